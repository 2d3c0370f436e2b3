// The third step of the wizard: stages or the schedule, the check after each room, what it waits for, its pace and its times.
import { Checkbox, Group, NumberInput, Radio, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { jobActions } from '../../../../contract/jobs/action-table.ts'
import { maxWithinHours } from '../../../../contract/jobs/recurring-jobs.ts'
import { DaysField } from '../../../parts/page/days-field.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { StagesField } from './stages-field.tsx'
import {
  failureStep,
  hasStages,
  type StepProps,
  stagesRefusedText,
  waitsForIdle,
  waitsForWindow,
} from './wizard-state.ts'

export function RolloutStep(props: StepProps) {
  const { state, onChange } = props
  const refusedText = stagesRefusedText(state)
  if (state.isRecurring) {
    return (
      <Stack>
        <ScheduleFields {...props} />
        <WaitFields {...props} />
      </Stack>
    )
  }
  return (
    <Stack>
      <Section title="Order">
        <Stack gap="sm" align="flex-start">
          {refusedText === null ? (
            <SegmentedControl
              aria-label="Order"
              data={[
                { value: 'staged', label: 'In stages' },
                { value: 'together', label: 'All together' },
              ]}
              value={state.isStaged ? 'staged' : 'together'}
              onChange={(value) => onChange({ isStaged: value === 'staged' })}
            />
          ) : (
            <Text>{refusedText}</Text>
          )}
          {hasStages(state) && <StagesField {...props} />}
        </Stack>
      </Section>
      {hasStages(state) && <HealthFields {...props} />}
      <WaitFields {...props} />
      <TimeFields {...props} />
    </Stack>
  )
}

/** An emptied field is not a number, which the step reports. */
const numberOf = (value: string | number): number => (value === '' ? Number.NaN : Number(value))
const shown = (value: number): number | string => (Number.isNaN(value) ? '' : value)

function HealthFields({ state, onChange }: StepProps) {
  return (
    <Section title="After each room">
      <Stack gap="sm" maw={420}>
        <NumberInput
          label="Monitor each room for"
          description="A room fails if a device goes offline or an incident opens in this time."
          suffix=" min"
          min={0}
          max={10_080}
          value={shown(state.soakMinutes)}
          onChange={(value) => onChange({ soakMinutes: numberOf(value) })}
        />
        <Group gap="xs" role="group" aria-label="When the job stops by itself">
          <Text fz="sm">Stop when failures exceed</Text>
          <NumberInput
            aria-label="Percent of rooms that may fail"
            suffix=" %"
            min={0}
            max={100}
            w={90}
            value={shown(state.failurePercent)}
            onChange={(value) => onChange({ failurePercent: numberOf(value) })}
          />
          <Text fz="sm">and at least</Text>
          <NumberInput
            aria-label="Rooms that must fail"
            min={1}
            allowDecimal={false}
            w={80}
            value={shown(state.failureCount)}
            onChange={(value) => onChange({ failureCount: numberOf(value) })}
          />
          <Text fz="sm">{state.failureCount === 1 ? 'room' : 'rooms'}</Text>
        </Group>
        {state.type && jobActions[state.type].rollback?.isAutomatic && (
          <Radio.Group
            label="When the job stops"
            value={failureStep(state)}
            onChange={(value) => onChange({ onFailure: value === 'pause' ? 'pause' : 'rollBack' })}
          >
            <Stack gap={6} mt={6}>
              <Radio value="rollBack" label="Roll back all rooms" />
              <Radio value="pause" label="Only stop" />
            </Stack>
          </Radio.Group>
        )}
      </Stack>
    </Section>
  )
}

function WaitFields({ state, onChange }: StepProps) {
  return (
    <Section title="Waiting and pace">
      <Stack gap="sm" maw={420}>
        <Checkbox
          label="Wait for the change window of each location"
          description="A location without one can be changed at any time."
          checked={waitsForWindow(state)}
          onChange={(event) => onChange({ window: event.currentTarget.checked })}
        />
        <Checkbox
          label="Wait until each room is empty"
          checked={waitsForIdle(state)}
          onChange={(event) => onChange({ idle: event.currentTarget.checked })}
        />
        <NumberInput
          label="Rooms at a time"
          min={1}
          max={10_000}
          allowDecimal={false}
          value={shown(state.atOnce)}
          onChange={(value) => onChange({ atOnce: numberOf(value) })}
        />
        <NumberInput
          label="Rooms at a time in one location"
          placeholder="5"
          min={1}
          max={10_000}
          allowDecimal={false}
          value={state.atOncePerLocation ?? ''}
          onChange={(value) => onChange({ atOncePerLocation: value === '' ? undefined : Number(value) })}
        />
        {state.type && jobActions[state.type].canConflict && (
          <Checkbox
            label="Skip rooms whose profile locks these settings"
            checked={state.skipConflicts}
            onChange={(event) => onChange({ skipConflicts: event.currentTarget.checked })}
          />
        )}
        {!state.isRecurring && (
          <Checkbox
            label="Include devices that match after the start"
            description="They join the last stage while the job runs."
            checked={state.includeNew}
            onChange={(event) => onChange({ includeNew: event.currentTarget.checked })}
          />
        )}
      </Stack>
    </Section>
  )
}

function ScheduleFields({ state: { schedule, withinHours }, onChange }: StepProps) {
  return (
    <Section title="Schedule">
      <Stack gap="sm" maw={480}>
        <DaysField
          label="Days"
          value={schedule.days}
          onChange={(days) => onChange({ schedule: { ...schedule, days } })}
        />
        <TextInput
          type="time"
          label="Time"
          description="By the clocks of each location."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={schedule.at}
          onChange={(event) => onChange({ schedule: { ...schedule, at: event.currentTarget.value } })}
        />
        <NumberInput
          label="Start rooms within"
          description="Rooms that could not start in this time wait for the next run."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          suffix=" h"
          min={1}
          max={maxWithinHours}
          allowDecimal={false}
          value={shown(withinHours)}
          onChange={(value) => onChange({ withinHours: numberOf(value) })}
        />
      </Stack>
    </Section>
  )
}

function TimeFields({ state, onChange }: StepProps) {
  return (
    <Section title="Time">
      <Stack gap="sm" maw={420}>
        <TextInput
          type="datetime-local"
          label="Starts"
          description="Optional, in your local time. Leave empty to start the job yourself."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={state.startAt}
          onChange={(event) => onChange({ startAt: event.currentTarget.value })}
        />
        <TextInput
          type="datetime-local"
          label="Deadline"
          description="Optional. Rooms that have not started by then are not changed. Leave empty for 14 days after the start."
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          value={state.deadline}
          onChange={(event) => onChange({ deadline: event.currentTarget.value })}
        />
      </Stack>
    </Section>
  )
}
