// The second step of the wizard: which devices the job is for, and which of them it leaves out.
import { MultiSelect, SegmentedControl, Stack, TagsInput, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { errorMessage, operationQuery } from '../../../api.ts'
import { type Choice, useRoomChoices } from '../../../domain/fleet/room/room-choices.ts'
import { locationLabel, useSites } from '../../../domain/fleet/site/sites.ts'
import { planQuery } from '../../../domain/jobs/job.ts'
import { DisclosureButton } from '../../../parts/page/disclosure-button.tsx'
import { Section } from '../../../parts/page/page.tsx'
import { plural } from '../../../parts/text/words.ts'
import { useDeviceChoices, useKnownTags } from './target-choices.ts'
import { isEmptyTarget, jobDraftOf, type StepProps, type TargetInput, type WizardState } from './wizard-state.ts'

export function TargetStep({ state, onChange }: StepProps) {
  const [isExcluding, { toggle }] = useDisclosure(!isEmptyTarget(state.exclude))
  return (
    <Stack>
      <Section title="Devices">
        <SegmentedControl
          aria-label="Devices of the job"
          mb="sm"
          w="fit-content"
          data={[
            { value: 'chosen', label: 'Chosen devices' },
            { value: 'all', label: 'All devices' },
          ]}
          value={state.isForAll ? 'all' : 'chosen'}
          onChange={(value) => onChange({ isForAll: value === 'all' })}
        />
        {!state.isForAll && (
          <>
            <Text fz="sm" c="dimmed" mb="sm">
              Devices must match all fields; any value within a field counts.
            </Text>
            <TargetFields value={state.target} onChange={(target) => onChange({ target })} />
          </>
        )}
        <TargetCount state={state} />
      </Section>
      <Section title="Except">
        <DisclosureButton isOpen={isExcluding} onClick={toggle}>
          Exclude devices
        </DisclosureButton>
        {isExcluding && <TargetFields value={state.exclude} onChange={(exclude) => onChange({ exclude })} />}
      </Section>
    </Stack>
  )
}

interface TargetFieldsProps {
  readonly value: TargetInput
  readonly onChange: (value: TargetInput) => void
}

function TargetFields({ value, onChange }: TargetFieldsProps) {
  const { regions, locations } = useSites()
  const rooms = useRoomChoices().choices
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles ?? []
  const { devices, models, firmwareVersions } = useDeviceChoices()
  const tags = useKnownTags()
  const ids = (field: 'regionIds' | 'locationIds' | 'roomIds' | 'profileIds') => ({
    value: value[field].map(String),
    onChange: (chosen: string[]) => onChange({ ...value, [field]: chosen.map(Number) }),
  })
  const texts = (field: 'endpointIds' | 'models' | 'firmwareVersions' | 'tags' | 'timezones') => ({
    value: [...value[field]],
    onChange: (chosen: string[]) => onChange({ ...value, [field]: chosen }),
  })
  return (
    <Stack gap="sm" maw={640}>
      <MultiSelectField label="Regions" data={regions.map(namedChoice)} {...ids('regionIds')} />
      <MultiSelectField
        label="Locations"
        data={locations.map((one) => ({ value: String(one.id), label: locationLabel(one) }))}
        {...ids('locationIds')}
      />
      <MultiSelectField label="Rooms" data={rooms} {...ids('roomIds')} />
      <MultiSelectField label="Single devices" data={devices} {...texts('endpointIds')} />
      <TagsInput
        label="Tags"
        placeholder={value.tags.length === 0 ? 'Any' : ''}
        data={tags}
        clearable
        clearButtonProps={{ 'aria-label': 'Clear tags' }}
        {...texts('tags')}
      />
      <MultiSelectField label="Models" data={models} {...texts('models')} />
      <MultiSelectField label="Profiles" data={profiles.map(namedChoice)} {...ids('profileIds')} />
      <MultiSelectField label="Firmware" data={firmwareVersions} {...texts('firmwareVersions')} />
      {value.timezones.length > 0 && (
        <MultiSelectField
          label="Time zones"
          data={value.timezones.map((zone) => ({ value: zone, label: zone }))}
          {...texts('timezones')}
        />
      )}
    </Stack>
  )
}

const namedChoice = ({ id, name }: { readonly id: number; readonly name: string }): Choice => ({
  value: String(id),
  label: name,
})

interface MultiSelectFieldProps {
  readonly label: string
  readonly data: readonly Choice[]
  readonly value: string[]
  readonly onChange: (value: string[]) => void
}

/** Longer lists are slow to open; typing finds the other values. */
const maxChoicesShown = 50

const MultiSelectField = ({ label, data, value, onChange }: MultiSelectFieldProps) => (
  <MultiSelect
    label={label}
    placeholder={value.length === 0 ? 'Any' : ''}
    data={data}
    value={value}
    onChange={onChange}
    searchable
    clearable
    clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
    limit={maxChoicesShown}
    maxDropdownHeight={240}
    nothingFoundMessage="No matches"
  />
)

/** Says how many devices match, while they are being chosen. */
function TargetCount({ state }: { readonly state: WizardState }) {
  const draft = jobDraftOf(useDeferredValue(state), 'Plan')
  const { data, error } = useQuery({
    ...planQuery(draft ?? { name: '', target: {}, action: { type: 'REBOOT' } }),
    enabled: draft !== undefined,
    placeholderData: (previous) => previous,
    retry: false,
  })
  if (!draft) return null
  return (
    <Text role="status" mt="sm" fw={500} {...(error && { c: 'var(--rk-offline)' })}>
      {error
        ? errorMessage(error)
        : data && `${plural(data.body.endpointCount, 'device')} in ${plural(data.body.unitCount, 'room')} match`}
    </Text>
  )
}
