// The first step of the wizard: whether the job is repeated, and what it does to each device.
import { Button, Group, Radio, SegmentedControl, Stack, Text } from '@mantine/core'
import { type JobActionType, jobActions, jobActionTypes } from '../../../../contract/jobs/action-table.ts'
import { ActionFields } from '../../../domain/jobs/action/action-fields.tsx'
import { mayRunAction } from '../../../domain/jobs/job.ts'
import { usualJobs } from '../../../domain/jobs/recurring-job.ts'
import { Section } from '../../../parts/page/page.tsx'
import { usePermissions } from '../../../session.ts'
import type { StepProps } from './wizard-state.ts'

interface ActionStepProps extends StepProps {
  /** A recurring job that is edited stays one. */
  readonly isEdit: boolean
}

export function ActionStep({ state, onChange, isEdit }: ActionStepProps) {
  const permissions = usePermissions()
  const isOffered = (type: JobActionType) =>
    mayRunAction(type, permissions) && (!state.isRecurring || jobActions[type].recurs)
  const repeat = (isRecurring: boolean) =>
    onChange({ isRecurring, ...(isRecurring && state.type && !jobActions[state.type].recurs && { type: undefined }) })
  return (
    <Stack>
      {!isEdit && (
        <Section title="How often">
          <SegmentedControl
            aria-label="How often"
            w="fit-content"
            data={[
              { value: 'once', label: 'Once' },
              { value: 'repeatedly', label: 'On a schedule' },
            ]}
            value={state.isRecurring ? 'repeatedly' : 'once'}
            onChange={(value) => repeat(value === 'repeatedly')}
          />
          {state.isRecurring && (
            <Group gap="xs" mt="sm">
              <Text fz="sm" c="dimmed">
                Start from:
              </Text>
              {usualJobs
                .filter(({ type }) => mayRunAction(type, permissions))
                .map((usual) => (
                  <Button key={usual.name} variant="default" size="xs" onClick={() => onChange(usual)}>
                    {usual.name}
                  </Button>
                ))}
            </Group>
          )}
        </Section>
      )}
      <Section title="What the job does">
        <Radio.Group
          aria-label="What the job does"
          value={state.type ?? null}
          onChange={(value) => onChange({ type: value as JobActionType })}
        >
          <Stack gap="xs">
            {jobActionTypes.filter(isOffered).map((type) => (
              <Radio key={type} value={type} label={jobActions[type].texts.name} />
            ))}
          </Stack>
        </Radio.Group>
      </Section>
      <ActionFields input={state} onChange={onChange} />
    </Stack>
  )
}
