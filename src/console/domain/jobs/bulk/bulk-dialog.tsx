// The dialog of an action on many devices: its fields, then its plan, then one job that does it. [contract 12.plan]
import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { RebootTime } from '../../../../contract/fleet/commands.ts'
import { type JobActionType, jobActions } from '../../../../contract/jobs/action-table.ts'
import { defaultDeadlineDays, maxTargetValues } from '../../../../contract/jobs/job-request.ts'
import { capitalised } from '../../../../contract/words.ts'
import { useWrite } from '../../../api.ts'
import { ErrorText } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { RestartTime } from '../../fleet/device/restart-time.tsx'
import { ActionFields } from '../action/action-fields.tsx'
import { type ActionInput, actionOf, actionProblem, emptyAction } from '../action/action-forms.ts'
import { useActionText, useDeviceClause } from '../action-name.ts'
import { type JobDraft, noFailureLimit, type PlannedAction } from '../job.ts'
import { jobNameOf } from '../job-name.ts'
import { PlanPanel, usePlan } from '../plan-panel.tsx'
import { bulkDeadline } from './bulk-deadline.ts'
import type { BulkTarget } from './bulk-target.ts'
import { showJobNotice } from './job-notice.tsx'

interface BulkDialogProps {
  readonly type: JobActionType
  /** The selected rows in words: the title of the dialog and the name of the job have them. */
  readonly subject: string
  readonly target: BulkTarget | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}

function hasFields(type: JobActionType): boolean {
  const { required, optional } = jobActions[type].keys
  return required.length + optional.length > 0
}

export function BulkDialog({ type, subject, target, onClose, onDone }: BulkDialogProps) {
  const [input, setInput] = useState<ActionInput>({ ...emptyAction, type })
  const [isPlanShown, setIsPlanShown] = useState(!hasFields(type))
  const action = actionOf(input)
  return (
    <Modal opened onClose={onClose} title={`${jobActions[type].texts.shortName}: ${subject}`} size="xl">
      {target === undefined ? (
        <TooMany onClose={onClose} />
      ) : isPlanShown && action ? (
        <PlanView
          action={action}
          subject={subject}
          target={target}
          onBack={hasFields(type) ? () => setIsPlanShown(false) : undefined}
          onClose={onClose}
          onDone={onDone}
        />
      ) : (
        <FieldsView
          input={input}
          onChange={(changes) => setInput((before) => ({ ...before, ...changes }))}
          onClose={onClose}
          onNext={() => setIsPlanShown(true)}
        />
      )}
    </Modal>
  )
}

const TooMany = ({ onClose }: { readonly onClose: () => void }) => (
  <Stack>
    <Text fz="sm">
      This selection is too large for one action. Select at most {maxTargetValues.endpointIds} devices or{' '}
      {maxTargetValues.roomIds.toLocaleString('en-GB')} rooms, or create a job for whole regions, locations or models.
    </Text>
    <Group justify="flex-end">
      <Button variant="default" onClick={onClose}>
        Close
      </Button>
    </Group>
  </Stack>
)

interface FieldsViewProps {
  readonly input: ActionInput
  readonly onChange: (changes: Partial<ActionInput>) => void
  readonly onClose: () => void
  readonly onNext: () => void
}

function FieldsView({ input, onChange, onClose, onNext }: FieldsViewProps) {
  const problem = actionProblem(input)
  return (
    <Stack>
      <ActionFields input={input} onChange={onChange} />
      <Group
        justify="flex-end"
        gap="xs"
        pos="sticky"
        bottom={0}
        py="sm"
        bg="var(--mantine-color-body)"
        style={{ zIndex: 2 }}
      >
        {problem !== undefined && (
          <Text fz="sm" c="dimmed" mr="auto" role="status">
            {problem}
          </Text>
        )}
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button disabled={problem !== undefined} onClick={onNext}>
          Review
        </Button>
      </Group>
    </Stack>
  )
}

interface PlanViewProps {
  readonly action: PlannedAction
  readonly subject: string
  readonly target: BulkTarget
  readonly onBack: (() => void) | undefined
  readonly onClose: () => void
  readonly onDone: () => void
}

const respectOf: Readonly<Record<RebootTime, NonNullable<JobDraft['respect']>>> = {
  now: { idle: false, window: false },
  idle: { idle: true, window: false },
  window: { idle: true, window: true },
}

function PlanView({ action, subject, target, onBack, onClose, onDone }: PlanViewProps) {
  const [skipConflicts, setSkipConflicts] = useState(false)
  const navigate = useNavigate()
  const nameOf = useActionText([action])
  const deviceClause = useDeviceClause(action)
  const name = jobNameOf(nameOf(action), subject)
  const [when, setWhen] = useState<RebootTime>('idle')
  const { isDeferred, canConflict, texts } = jobActions[action.type]
  const draft: JobDraft = {
    ...{ name, target, action, failures: noFailureLimit },
    ...(isDeferred && { respect: respectOf[when] }),
    ...(canConflict && { skipConflicts }),
  }
  const plan = usePlan(draft)
  const create = useWrite('jobsCreate', {
    quiet: true,
    onDone: (job) => {
      showJobNotice(job, () => void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } }))
      onDone()
    },
  })
  const start = (shown: NonNullable<typeof plan.data>) => {
    const answer = { plan: shown.body, readAt: plan.dataUpdatedAt }
    const deadline = bulkDeadline(action.type, when, answer, Date.now())
    create.mutate({ input: { body: { ...draft, ...(deadline && { deadline }), start: true } } })
  }
  const hasConflicts = (plan.data?.body.conflictCount ?? 0) > 0
  const canStart = plan.data !== undefined && (!hasConflicts || skipConflicts)
  return (
    <Stack>
      {isDeferred && (
        <RestartTime when={when} isNowPossible choose={setWhen} limitText={`${defaultDeadlineDays} days`} />
      )}
      <PlanPanel plan={plan} draft={draft} />
      {canConflict && (hasConflicts || skipConflicts) && (
        <Checkbox
          label="Skip rooms with devices whose profile locks a setting"
          checked={skipConflicts}
          onChange={(event) => setSkipConflicts(event.currentTarget.checked)}
        />
      )}
      <ErrorText error={create.error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onBack ?? onClose}>
          {onBack ? 'Back' : 'Cancel'}
        </Button>
        <Button disabled={!canStart} loading={create.isPending} onClick={() => plan.data && start(plan.data)}>
          {plan.data && deviceClause !== undefined
            ? `${capitalised(texts.planned[1])} ${plural(plan.data.body.endpointCount, 'device')}${deviceClause}`
            : texts.button}
        </Button>
      </Group>
    </Stack>
  )
}
