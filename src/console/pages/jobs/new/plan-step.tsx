// The last step of the wizard: the plan of the job, its name, and the buttons that start it or keep it as a draft.

import { Button, Group, Stack, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { maxNameLength } from '../../../../contract/shape.ts'
import { useWrite } from '../../../api.ts'
import type { JobDraft } from '../../../domain/jobs/job.ts'
import { PlanPanel, usePlan } from '../../../domain/jobs/plan-panel.tsx'
import { ErrorText, Section } from '../../../parts/page/page.tsx'

interface PlanStepProps {
  readonly draft: JobDraft
  readonly name: string
  readonly onName: (name: string) => void
  readonly back: ReactNode
  readonly onCreated: (jobId: string) => Promise<void>
}

export function PlanStep({ draft, name, onName, back, onCreated }: PlanStepProps) {
  const create = useWrite('jobsCreate', { quiet: true, onDone: ({ id }) => onCreated(id) })
  const plan = usePlan(draft)
  const hasConflicts = (plan.data?.body.conflictCount ?? 0) > 0 && draft.skipConflicts !== true
  const canCreate = plan.data !== undefined && !hasConflicts && !create.isPending
  const submit = (start: boolean) => create.mutate({ input: { body: { ...draft, start } } })
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
        <PlanPanel plan={plan} draft={draft} />
      </Section>
      <ErrorText error={create.error} />
      <Group gap="xs">
        {back}
        <Button variant="default" disabled={!canCreate} onClick={() => submit(false)}>
          Save as draft
        </Button>
        <Button disabled={!canCreate} loading={create.isPending} onClick={() => submit(true)}>
          {draft.startAt ? 'Schedule job' : 'Start job'}
        </Button>
      </Group>
    </Stack>
  )
}
