// The first step of the wizard: what the job does to each device.
import { Radio, Stack } from '@mantine/core'
import { type JobActionType, jobActions, jobActionTypes } from '../../../../contract/jobs/action-table.ts'
import { ActionFields } from '../../../domain/jobs/action/action-fields.tsx'
import { mayRunAction } from '../../../domain/jobs/job.ts'
import { Section } from '../../../parts/page/page.tsx'
import { usePermissions } from '../../../session.ts'
import type { StepProps } from './wizard-state.ts'

export function ActionStep({ state, onChange }: StepProps) {
  const permissions = usePermissions()
  return (
    <Stack>
      <Section title="What the job does">
        <Radio.Group
          aria-label="What the job does"
          value={state.type ?? null}
          onChange={(value) => onChange({ type: value as JobActionType })}
        >
          <Stack gap="xs">
            {jobActionTypes
              .filter((type) => mayRunAction(type, permissions))
              .map((type) => (
                <Radio key={type} value={type} label={jobActions[type].texts.name} />
              ))}
          </Stack>
        </Radio.Group>
      </Section>
      <ActionFields input={state} onChange={onChange} />
    </Stack>
  )
}
