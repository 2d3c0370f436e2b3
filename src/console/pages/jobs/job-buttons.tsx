// The buttons that steer a job, as far as its state allows them: pause, resume, retry, roll back and cancel. [contract 12.states]
import { Button, Checkbox, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { isReversible, jobActions } from '../../../contract/jobs/action-table.ts'
import { useWrite } from '../../api.ts'
import {
  allowsRollBackNow,
  allowsStep,
  changedCount,
  hasJobEnded,
  type JobDetails,
  retryableCount,
} from '../../domain/jobs/job.ts'
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx'
import { CopyIcon, CrossIcon, PauseIcon, PlayIcon, RebootIcon, UndoIcon } from '../../parts/page/icons.tsx'
import { plural } from '../../parts/text/words.ts'

export function JobButtons({ job }: { readonly job: JobDetails }) {
  const input = { id: job.id }
  const start = useWrite('jobsStart', { successText: 'Job started' })
  const pause = useWrite('jobsPause', { successText: 'Job paused' })
  const resume = useWrite('jobsResume', { successText: 'Job resumed' })
  const retry = useWrite('jobsRetry', { successText: 'Retrying failed rooms' })
  const [isRollBackOpen, rollBack] = useDisclosure(false)
  const [isHurryOpen, hurry] = useDisclosure(false)
  const [isCancelOpen, cancel] = useDisclosure(false)
  return (
    <>
      {allowsStep(job, 'start') && (
        <Button
          leftSection={<PlayIcon />}
          loading={start.isPending}
          onClick={() => start.mutate({ input: { id: job.id } })}
        >
          Start
        </Button>
      )}
      {allowsStep(job, 'pause') && (
        <Button leftSection={<PauseIcon />} loading={pause.isPending} onClick={() => pause.mutate({ input })}>
          Pause
        </Button>
      )}
      {allowsStep(job, 'resume') && (
        <Button leftSection={<PlayIcon />} loading={resume.isPending} onClick={() => resume.mutate({ input })}>
          Resume
        </Button>
      )}
      {allowsStep(job, 'retry') && retryableCount(job) > 0 && (
        <Button
          variant="default"
          leftSection={<RebootIcon />}
          loading={retry.isPending}
          onClick={() => retry.mutate({ input })}
        >
          Retry failed
        </Button>
      )}
      {allowsStep(job, 'rollBack') && (
        <Button variant="default" leftSection={<UndoIcon />} onClick={rollBack.open}>
          Roll back
        </Button>
      )}
      {allowsRollBackNow(job) && (
        <Button variant="default" leftSection={<UndoIcon />} onClick={hurry.open}>
          Roll back now
        </Button>
      )}
      {allowsStep(job, 'cancel') && (
        <Button variant="default" leftSection={<CrossIcon />} onClick={cancel.open}>
          Cancel job
        </Button>
      )}
      {hasJobEnded(job.state) && (
        <Button
          variant="default"
          leftSection={<CopyIcon />}
          renderRoot={(props) => <Link {...props} to="/jobs/new" search={{ from: job.id }} />}
        >
          Run again
        </Button>
      )}
      <RollBackDialog job={job} opened={isRollBackOpen} onClose={rollBack.close} />
      <RollBackNowDialog job={job} opened={isHurryOpen} onClose={hurry.close} />
      <CancelDialog job={job} opened={isCancelOpen} onClose={cancel.close} />
    </>
  )
}

interface DialogProps {
  readonly job: JobDetails
  readonly opened: boolean
  readonly onClose: () => void
}

function RollBackDialog({ job, opened, onClose }: DialogProps) {
  const [now, setNow] = useState(false)
  const write = useWrite('jobsRollBack', { quiet: true, successText: 'Rolling back the job', onDone: onClose })
  const waits = job.respect?.window || job.respect?.idle
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Roll back ${job.name}?`}
      verb="Roll back"
      mutation={write}
      onConfirm={() => write.mutate({ input: { id: job.id, body: { now } } })}
    >
      <Stack gap="sm">
        <span>
          Rolls back {plural(changedCount(job), 'room')}. {jobActions[job.action.type].rollback?.text} Devices that are
          online usually confirm within a minute; others follow when they are back.
        </span>
        <Checkbox
          label="Roll back immediately"
          description={waits ? 'Without waiting for change windows and empty rooms.' : 'In all rooms at the same time.'}
          checked={now}
          onChange={(event) => setNow(event.currentTarget.checked)}
        />
      </Stack>
    </ConfirmDialog>
  )
}

function RollBackNowDialog({ job, opened, onClose }: DialogProps) {
  const write = useWrite('jobsRollBack', {
    quiet: true,
    successText: 'The job is rolled back without waiting',
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Roll back ${job.name} now?`}
      verb="Roll back now"
      mutation={write}
      onConfirm={() => write.mutate({ input: { id: job.id, body: { now: true } } })}
    >
      Rooms that wait for their change window, or until they are empty, are changed now.
    </ConfirmDialog>
  )
}

function CancelDialog({ job, opened, onClose }: DialogProps) {
  const [rollBack, setRollBack] = useState(false)
  const write = useWrite('jobsCancel', { quiet: true, successText: 'Job cancelled', onDone: onClose })
  const mayHaveChanged = job.startedAt !== undefined && isReversible(job.action.type)
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Cancel ${job.name}?`}
      verb="Cancel job"
      mutation={write}
      onConfirm={() => write.mutate({ input: { id: job.id, body: { rollBack } } })}
    >
      <Stack gap="sm">
        <span>Rooms that have not started are not changed. A cancelled job cannot be resumed.</span>
        {mayHaveChanged && (
          <Checkbox
            label="Roll back what it changed"
            checked={rollBack}
            onChange={(event) => setRollBack(event.currentTarget.checked)}
          />
        )}
      </Stack>
    </ConfirmDialog>
  )
}
