// The last step of the wizard: the plan of the job, its name, and the buttons that start it, keep it as a draft, or save a recurring one.

import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import type { JobDraft } from '../../../domain/jobs/job.ts'
import { PlanPanel, usePlan } from '../../../domain/jobs/plan-panel.tsx'
import { type RecurringDraft, scheduleText } from '../../../domain/jobs/recurring-job.ts'
import { ErrorText, Section } from '../../../parts/page/page.tsx'

interface PlanStepProps {
  /** The job, or the first run of the recurring job. */
  readonly draft: JobDraft
  readonly recurringDraft: RecurringDraft | undefined
  /** The recurring job that is edited. */
  readonly edited: EditedJob | undefined
  readonly name: string
  readonly onName: (name: string) => void
  readonly back: ReactNode
  readonly onCreated: (jobId: string) => Promise<void>
  readonly onRecurring: (recurringJobId: string) => Promise<void>
}

export interface EditedJob {
  readonly id: string
  readonly etag: string | undefined
}

export function PlanStep(props: PlanStepProps) {
  const { draft, recurringDraft, name, onName } = props
  const plan = usePlan(draft)
  const hasConflicts = (plan.data?.body.conflictCount ?? 0) > 0 && draft.skipConflicts !== true
  const canCreate = plan.data !== undefined && !hasConflicts
  return (
    <Stack>
      <Section title="Name">
        <TextInput
          label="Name of the job"
          placeholder={draft.name}
          value={name}
          maxLength={maxNameLength}
          autoComplete="off"
          onChange={(event) => onName(event.currentTarget.value)}
          maw={480}
        />
      </Section>
      <Section title="Plan">
        {recurringDraft && (
          <Text fz="sm" mb="sm">
            {scheduleText(recurringDraft.schedule)}, by the clocks of each location. Rooms are chosen when a run starts;
            these match now:
          </Text>
        )}
        <PlanPanel plan={plan} draft={draft} isRecurring={recurringDraft !== undefined} />
      </Section>
      {recurringDraft ? (
        <RecurringButtons {...props} recurringDraft={recurringDraft} canCreate={canCreate} />
      ) : (
        <JobButtons {...props} canCreate={canCreate} />
      )}
    </Stack>
  )
}

interface ButtonsProps extends PlanStepProps {
  readonly canCreate: boolean
}

function JobButtons({ draft, back, onCreated, canCreate }: ButtonsProps) {
  const create = useWrite('jobsCreate', { quiet: true, onDone: ({ id }) => onCreated(id) })
  const submit = (start: boolean) => create.mutate({ input: { body: { ...draft, start } } })
  const isDisabled = !canCreate || create.isPending
  return (
    <>
      <ErrorText error={create.error} />
      <Group gap="xs">
        {back}
        <Button variant="default" disabled={isDisabled} onClick={() => submit(false)}>
          Save as draft
        </Button>
        <Button disabled={isDisabled} loading={create.isPending} onClick={() => submit(true)}>
          {draft.startAt ? 'Schedule job' : 'Start job'}
        </Button>
      </Group>
    </>
  )
}

interface RecurringButtonsProps extends ButtonsProps {
  readonly recurringDraft: RecurringDraft
}

function RecurringButtons({ recurringDraft: body, edited, back, onRecurring, canCreate }: RecurringButtonsProps) {
  const done = { quiet: true, onDone: ({ id }: { readonly id: string }) => onRecurring(id) } as const
  const create = useWrite('recurringJobsCreate', { ...done, successText: 'Recurring job created' })
  const update = useWrite('recurringJobsUpdate', { ...done, successText: 'Recurring job saved' })
  const isPending = create.isPending || update.isPending
  const submit = () =>
    edited
      ? update.mutate({ input: { id: edited.id, body }, ifMatch: edited.etag })
      : create.mutate({ input: { body } })
  return (
    <>
      <ErrorText error={create.error ?? update.error} />
      <Group gap="xs">
        {back}
        <Button disabled={!canCreate || isPending} loading={isPending} onClick={submit}>
          {edited ? 'Save changes' : 'Create recurring job'}
        </Button>
      </Group>
    </>
  )
}
