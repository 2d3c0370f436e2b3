// Creates a location in a form, or changes its name, region, time zone or change window.

import { Select, Stack, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import { useWrite } from '../../api.ts'
import { weeklyText } from '../../domain/silence/silence.ts'
import { isWeeklyHours, WeeklyField } from '../../domain/silence/weekly-field.tsx'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { ZoneSelect } from '../../parts/page/zone-select.tsx'
import { useSession } from '../../session.ts'
import { checkLocation, useCheckedSave } from './site-checks.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'

interface LocationFormProps {
  /** A new location has none. */
  readonly location?: LocationNode
  /** A new location starts in this region. */
  readonly regionId?: number | undefined
  readonly regions: readonly RegionNode[]
  readonly onClose: () => void
}

const noRegion = '0'

/** The form proposes nights between working days. */
const proposedWindow: WeeklyHours = { days: ['mon', 'tue', 'wed', 'thu'], from: '20:00', to: '05:00' }

const windowText = (window: WeeklyHours | null): string => (window ? weeklyText(window) : '')

/** A location without a region is invisible to people who are limited to regions, so they must choose one. */
export function LocationForm({ location, regionId, regions, onClose }: LocationFormProps) {
  const { allRegions, org } = useSession()
  const firstRegion = allRegions ? noRegion : (regions[0]?.id ?? noRegion)
  const current = {
    name: location?.name ?? '',
    region: String(location?.regionId ?? regionId ?? firstRegion),
    zone: location?.timezone ?? '',
    window: location?.changeWindow ?? null,
  }
  // The form keeps the values that it opened with; a save checks that they are still current.
  const [initial, setInitial] = useState(current)
  const [name, setName] = useState(initial.name)
  const [region, setRegion] = useState(initial.region)
  const [zone, setZone] = useState(initial.zone)
  const [changeWindow, setWindow] = useState<WeeklyHours | null>(initial.window)
  const create = useWrite('locationsCreate', {
    successText: (made) => `Location ${made.name} created`,
    onDone: onClose,
    quiet: true,
  })
  const update = useWrite('locationsUpdate', { successText: 'Location saved', onDone: onClose, quiet: true })
  const trimmedName = name.trim()
  const isWindowChanged = windowText(changeWindow) !== windowText(initial.window)
  const isChanged =
    trimmedName !== initial.name || region !== initial.region || zone !== initial.zone || isWindowChanged
  const id = location?.id ?? 0
  const timezone = zone === '' ? null : zone
  const body = { name: trimmedName, regionId: Number(region), timezone, changeWindow }
  const save = useCheckedSave(
    () =>
      checkLocation(id, {
        name: initial.name,
        regionId: Number(initial.region),
        timezone: initial.zone,
        changeWindow: windowText(initial.window),
      }),
    () => {
      // Only changed fields are sent, so that a concurrent change of another field is not overwritten.
      const changed = {
        ...(trimmedName !== initial.name && { name: trimmedName }),
        ...(region !== initial.region && { regionId: Number(region) }),
        ...(zone !== initial.zone && { timezone }),
        ...(isWindowChanged && { changeWindow }),
      }
      return update.mutateAsync({ input: { id, body: changed } })
    },
  )
  const submit = () => (location ? save.mutate() : create.mutate({ input: { body } }))
  const reload = () => {
    setInitial(current)
    setName(current.name)
    setRegion(current.region)
    setZone(current.zone)
    setWindow(current.window)
    save.reset()
  }
  return (
    <DialogForm
      verb={location ? 'Save location' : 'Create location'}
      canSubmit={trimmedName !== '' && isChanged && (changeWindow === null || isWeeklyHours(changeWindow))}
      isBusy={create.isPending || save.isPending}
      error={create.error ?? save.error}
      onSubmit={submit}
      onCancel={onClose}
      onReload={reload}
    >
      <TextInput
        label="Location name"
        description={location ? undefined : 'A building or a floor.'}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label="Region"
        description={location && location.rooms > 0 ? 'Its rooms and devices move too.' : undefined}
        data={[
          ...(allRegions ? [{ value: noRegion, label: 'No region' }] : []),
          ...regions.map(({ id, name: label }) => ({ value: String(id), label })),
        ]}
        value={region}
        onChange={(value) => setRegion(value ?? noRegion)}
        searchable={regions.length > 8}
        allowDeselect={false}
        maxDropdownHeight={260}
      />
      <ZoneSelect
        label="Time zone"
        placeholder={`${org.timezone}, as the organisation`}
        value={zone === '' ? null : zone}
        onChange={(chosen) => setZone(chosen ?? '')}
        maxDropdownHeight={260}
      />
      <Stack gap="xs">
        <Switch
          label="Change window"
          description="Jobs and restarts that wait change its rooms only at these times. Otherwise at any time."
          checked={changeWindow !== null}
          onChange={(event) => setWindow(event.currentTarget.checked ? (initial.window ?? proposedWindow) : null)}
        />
        {changeWindow && <WeeklyField label="Begins on" value={changeWindow} onChange={setWindow} />}
      </Stack>
    </DialogForm>
  )
}
