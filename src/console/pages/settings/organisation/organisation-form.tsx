// Changes the organisation in a form: name, time zone, air limits, working hours, and what availability reports count. [contract 6.orgs]
import { Group, NumberInput, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { sensorLabels } from '../../../../contract/device/sensor-texts.ts'
import {
  type AirLimit,
  type AirLimits,
  ignoreUnderRange,
  limitRange,
  targetRange,
} from '../../../../contract/journal/orgs.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { maxNameLength } from '../../../../contract/shape.ts'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { useWrite } from '../../../api.ts'
import { isWeeklyHours, WeeklyField } from '../../../domain/incidents/silence/weekly-field.tsx'
import { type AirSensor, airSensors } from '../../../domain/sensors/air.ts'
import { useBaseline } from '../../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../../parts/dialog/dialog-form.tsx'
import { ZoneSelect } from '../../../parts/page/zone-select.tsx'
import { refreshSession } from '../../../session.ts'

/** Overwrites only the version that the form opened with. [contract 7.11] */
export function OrganisationForm({ onClose }: { readonly onClose: () => void }) {
  const { seen, reload } = useBaseline('orgsGet', {})
  const update = useWrite('orgsUpdate', {
    successText: 'Organisation saved',
    // Every page shows the name and the air limits of the session.
    onDone: () => {
      onClose()
      return refreshSession()
    },
    quiet: true,
  })
  return (
    <Fields
      key={seen.etag}
      initial={seen.body}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(body) => update.mutate({ input: { body }, ifMatch: seen.etag })}
      onClose={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

type OrgFields = ResponseOf<Operations['orgsGet']>
type OrgChanges = Partial<Omit<OrgFields, 'id' | 'workingHours'>> & { workingHours?: WeeklyHours | null }

/** NumberInput gives a string while empty or incomplete. Empty means no limit. */
type LimitFields = Readonly<Record<AirSensor, Readonly<Record<keyof AirLimit, number | string>>>>

interface FieldsProps {
  readonly initial: OrgFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (changes: OrgChanges) => void
  readonly onClose: () => void
  readonly onReload: () => void
}

/** The form proposes the usual hours of an office. */
const proposedHours: WeeklyHours = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '17:00' }

const eachSensor = <T,>(make: (sensor: AirSensor) => T): Record<AirSensor, T> =>
  Object.fromEntries(airSensors.map((sensor) => [sensor, make(sensor)])) as Record<AirSensor, T>
const fieldsOf = (limits: AirLimits): LimitFields =>
  eachSensor((sensor) => ({ min: limits[sensor].min ?? '', max: limits[sensor].max ?? '' }))
const limitsOf = (fields: LimitFields): AirLimits =>
  eachSensor((sensor) => {
    const { min, max } = fields[sensor]
    return { ...(min !== '' && { min: Number(min) }), ...(max !== '' && { max: Number(max) }) }
  })
const isRange = ({ min, max }: AirLimit): boolean => min === undefined || max === undefined || min < max

function Fields({ initial, isBusy, error, onSubmit, onClose, onReload }: FieldsProps) {
  const hoursBefore = initial.workingHours ?? null
  const [name, setName] = useState(initial.name)
  const [timezone, setTimezone] = useState(initial.timezone)
  const [fields, setFields] = useState(() => fieldsOf(initial.airLimits))
  const [workingHours, setWorkingHours] = useState(hoursBefore)
  /** NumberInput gives a string while empty. */
  const [target, setTarget] = useState<number | string>(initial.availabilityTarget)
  const [ignoreUnder, setIgnoreUnder] = useState<number | string>(initial.ignoreUnderMinutes)
  const airLimits = limitsOf(fields)
  const trimmedName = name.trim()
  const changes: OrgChanges = {
    ...(trimmedName !== initial.name && { name: trimmedName }),
    ...(timezone !== initial.timezone && { timezone }),
    ...(JSON.stringify(airLimits) !== JSON.stringify(limitsOf(fieldsOf(initial.airLimits))) && { airLimits }),
    ...(JSON.stringify(workingHours) !== JSON.stringify(hoursBefore) && { workingHours }),
    ...(typeof target === 'number' && target !== initial.availabilityTarget && { availabilityTarget: target }),
    ...(typeof ignoreUnder === 'number' &&
      ignoreUnder !== initial.ignoreUnderMinutes && { ignoreUnderMinutes: ignoreUnder }),
  }
  const isValid =
    trimmedName !== '' &&
    typeof target === 'number' &&
    typeof ignoreUnder === 'number' &&
    airSensors.every((sensor) => isRange(airLimits[sensor])) &&
    (workingHours === null || isWeeklyHours(workingHours))
  return (
    <DialogForm
      verb="Save organisation"
      canSubmit={isValid && Object.keys(changes).length > 0}
      isBusy={isBusy}
      error={error}
      onSubmit={() => onSubmit(changes)}
      onCancel={onClose}
      onReload={onReload}
    >
      <TextInput
        label="Organisation name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      <ZoneSelect
        label="Time zone"
        value={timezone}
        onChange={(zone) => zone !== null && setTimezone(zone)}
        clearable={false}
        allowDeselect={false}
        maxDropdownHeight={260}
      />
      <Stack gap="xs">
        <Text fz="sm" fw={500}>
          Air limits
        </Text>
        <Text fz="xs" c="dimmed">
          Rooms outside these limits are flagged, and open incidents. An empty field means no limit.
        </Text>
        {airSensors.map((sensor) => (
          <LimitInputs
            key={sensor}
            sensor={sensor}
            value={fields[sensor]}
            isRange={isRange(airLimits[sensor])}
            onChange={(value) => setFields((before) => ({ ...before, [sensor]: value }))}
          />
        ))}
      </Stack>
      <Stack gap="xs">
        <Switch
          label="Working hours"
          checked={workingHours !== null}
          onChange={(event) => setWorkingHours(event.currentTarget.checked ? (hoursBefore ?? proposedHours) : null)}
        />
        {workingHours && <WeeklyField label="Days" value={workingHours} onChange={setWorkingHours} />}
      </Stack>
      <Group grow align="flex-start">
        <NumberInput
          label="Availability target (%)"
          description="What rooms should reach in reports."
          value={target}
          onChange={setTarget}
          min={targetRange.minimum}
          max={targetRange.maximum}
          decimalScale={3}
          hideControls
        />
        <NumberInput
          label="Ignore outages under (minutes)"
          description="Shorter ones are not charged."
          value={ignoreUnder}
          onChange={setIgnoreUnder}
          min={ignoreUnderRange.minimum}
          max={ignoreUnderRange.maximum}
          allowDecimal={false}
          hideControls
        />
      </Group>
    </DialogForm>
  )
}

interface LimitInputsProps {
  readonly sensor: AirSensor
  readonly value: LimitFields[AirSensor]
  readonly isRange: boolean
  readonly onChange: (value: LimitFields[AirSensor]) => void
}

function LimitInputs({ sensor, value, isRange: isValid, onChange }: LimitInputsProps) {
  const { name, unit } = sensorLabels[sensor]
  const common = { decimalScale: 2, hideControls: true, min: limitRange.minimum, max: limitRange.maximum }
  return (
    <Group grow align="flex-start">
      <NumberInput
        {...common}
        label={`${name}, from (${unit})`}
        value={value.min}
        onChange={(min) => onChange({ ...value, min })}
      />
      <NumberInput
        {...common}
        label={`${name}, to (${unit})`}
        value={value.max}
        onChange={(max) => onChange({ ...value, max })}
        error={!isValid && 'Must be larger than “from”.'}
      />
    </Group>
  )
}
