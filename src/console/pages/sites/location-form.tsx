// Creates a location in a form, or changes it.

import { Select, Stack, Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxAddressLength } from '../../../contract/fleet/locations.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import { useWrite } from '../../api.ts'
import { ContactField, ExternalIdField, textOrNull } from '../../domain/fleet/fields/text-fields.tsx'
import type { ListedLocation } from '../../domain/fleet/site/sites.ts'
import { isWeeklyHours, WeeklyField } from '../../domain/incidents/silence/weekly-field.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { ZoneSelect } from '../../parts/page/zone-select.tsx'
import { useSession } from '../../session.ts'
import { proposedWindow } from './proposed-window.ts'
import type { RegionNode } from './site-tree.ts'

/** The fields as locationsCreate and locationsUpdate take them. */
interface LocationFields {
  readonly name: string
  /** 0 means no region. */
  readonly regionId: number
  /** Null means the time zone of the organisation. */
  readonly timezone: string | null
  /** Null means at any time. */
  readonly changeWindow: WeeklyHours | null
  readonly address: string | null
  readonly contact: string | null
  readonly externalId: string | null
}

const fieldsOf = ({ name, region, ...location }: Omit<ListedLocation, 'id'>): LocationFields => ({
  name,
  regionId: region?.id ?? 0,
  timezone: location.timezone ?? null,
  changeWindow: location.changeWindow ?? null,
  address: location.address ?? null,
  contact: location.contact ?? null,
  externalId: location.externalId ?? null,
})

const isSame = (a: LocationFields, b: LocationFields) => JSON.stringify(a) === JSON.stringify(b)

interface FormProps {
  readonly regions: readonly RegionNode[]
  readonly onClose: () => void
}

/** A location without a region is invisible to people who are limited to regions, so they must choose one. */
export function NewLocationForm({ regionId, regions, onClose }: FormProps & { readonly regionId: number | undefined }) {
  const { allRegions } = useSession()
  const firstRegion = allRegions ? 0 : (regions[0]?.id ?? 0)
  const create = useWrite('locationsCreate', {
    successText: (made) => `Location ${made.name} created`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <LocationForm
      verb="Create location"
      nameDescription="A building or a floor."
      initial={{ ...fieldsOf({ name: '' }), regionId: regionId ?? firstRegion }}
      regions={regions}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(body) => create.mutate({ input: { body } })}
      onCancel={onClose}
    />
  )
}

/** Overwrites only the version that the form opened with. [contract 7.11] */
export function EditLocationForm({
  id,
  hasRooms,
  regions,
  onClose,
}: FormProps & { readonly id: number; readonly hasRooms: boolean }) {
  const { now, seen, reload } = useBaseline('locationsGet', { id })
  const update = useWrite('locationsUpdate', { successText: 'Location saved', onDone: onClose, quiet: true })
  const initial = fieldsOf(seen.body)
  // The ETag also changes when the region is renamed. While the edited fields are unchanged, the new ETag is used.
  const ifMatch = isSame(initial, fieldsOf(now.body)) ? now.etag : seen.etag
  return (
    <LocationForm
      key={seen.etag}
      verb="Save location"
      regionDescription={hasRooms ? 'Its rooms and devices move too.' : undefined}
      initial={initial}
      regions={regions}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(body) => update.mutate({ input: { id, body }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

interface LocationFormProps {
  readonly verb: string
  readonly nameDescription?: string
  readonly regionDescription?: string | undefined
  readonly initial: LocationFields
  readonly regions: readonly RegionNode[]
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: LocationFields) => void
  readonly onCancel: () => void
  readonly onReload?: () => void
}

function LocationForm({ nameDescription, regionDescription, initial, regions, onSubmit, ...form }: LocationFormProps) {
  const { allRegions, org } = useSession()
  const [edited, setEdited] = useState(initial)
  const set = (changed: Partial<LocationFields>) => setEdited((before) => ({ ...before, ...changed }))
  const fields = {
    ...edited,
    name: edited.name.trim(),
    address: textOrNull(edited.address ?? ''),
    contact: textOrNull(edited.contact ?? ''),
    externalId: textOrNull(edited.externalId ?? ''),
  }
  const { changeWindow } = fields
  return (
    <DialogForm
      canSubmit={
        fields.name !== '' && !isSame(fields, initial) && (changeWindow === null || isWeeklyHours(changeWindow))
      }
      onSubmit={() => onSubmit(fields)}
      {...form}
    >
      <TextInput
        label="Location name"
        description={nameDescription}
        value={edited.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label="Region"
        description={regionDescription}
        data={[
          ...(allRegions ? [{ value: '0', label: 'No region' }] : []),
          ...regions.map(({ id, name: label }) => ({ value: String(id), label })),
        ]}
        value={String(fields.regionId)}
        onChange={(value) => set({ regionId: Number(value ?? 0) })}
        searchable={regions.length > 8}
        allowDeselect={false}
        maxDropdownHeight={260}
      />
      <ZoneSelect
        label="Time zone"
        placeholder={`${org.timezone}, as the organisation`}
        value={fields.timezone}
        onChange={(timezone) => set({ timezone: timezone ?? null })}
        maxDropdownHeight={260}
      />
      <Stack gap="xs">
        <Switch
          label="Change window"
          description="Scheduled changes run only at these times. Without a window, any time."
          checked={changeWindow !== null}
          onChange={(event) =>
            set({ changeWindow: event.currentTarget.checked ? (initial.changeWindow ?? proposedWindow) : null })
          }
        />
        {changeWindow && (
          <WeeklyField label="Begins on" value={changeWindow} onChange={(hours) => set({ changeWindow: hours })} />
        )}
      </Stack>
      <Textarea
        label="Address"
        description="Optional."
        value={edited.address ?? ''}
        onChange={(event) => set({ address: event.currentTarget.value })}
        maxLength={maxAddressLength}
        autosize
        minRows={1}
        maxRows={5}
      />
      <ContactField value={edited.contact ?? ''} onChange={(contact) => set({ contact })} />
      <ExternalIdField value={edited.externalId ?? ''} onChange={(externalId) => set({ externalId })} />
    </DialogForm>
  )
}
