// The notification after a job was started: a link to the job, and Undo where the action can be rolled back.
import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import { secondMs } from '../../../../contract/durations.ts'
import { isReversible } from '../../../../contract/jobs/action-table.ts'
import { notifyError, queryClient } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import { client } from '../../../session.ts'
import type { ListedJob } from '../job.ts'

const noticeMs = 30_000

type StartedJob = Pick<ListedJob, 'id' | 'name' | 'endpointCount' | 'unitCount' | 'action'>

/** `open` leads to the page of the job. */
export function showJobNotice(job: StartedJob, open: () => void): void {
  const id = `job-${job.id}`
  const openAndHide = () => {
    notifications.hide(id)
    open()
  }
  notifications.show({
    id,
    color: 'green',
    autoClose: noticeMs,
    title: job.name,
    message: <JobNotice job={job} onOpen={openAndHide} onUndone={openAndHide} />,
  })
}

interface JobNoticeProps {
  readonly job: StartedJob
  readonly onOpen: () => void
  readonly onUndone: () => void
}

function JobNotice({ job, onOpen, onUndone }: JobNoticeProps) {
  const [isUndoing, setIsUndoing] = useState(false)
  const isUndoable = isReversible(job.action.type)
  const undo = async () => {
    setIsUndoing(true)
    try {
      await client().jobsRollBack({ id: job.id, body: {} })
      await queryClient.invalidateQueries()
      onUndone()
    } catch (error) {
      setIsUndoing(false)
      notifyError(error, 'Undo failed')
    }
  }
  return (
    <Group gap="xs">
      <Text fz="sm">
        Started for {plural(job.endpointCount, 'device')} in {plural(job.unitCount, 'room')}.
        {isUndoable && ` Undo it here for ${noticeMs / secondMs} s, or later on its page.`}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={onOpen}>
        Open job
      </Button>
      {isUndoable && (
        <Button variant="subtle" size="compact-sm" loading={isUndoing} onClick={() => void undo()}>
          Undo
        </Button>
      )}
    </Group>
  )
}
