// Creates a location in a form, or renames it or moves it to another region.
import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
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

/** A location without a region is invisible to people who are limited to regions, so they must choose one. */
export function LocationForm({ location, regionId, regions, onClose }: LocationFormProps) {
  const { allRegions } = useSession()
  const firstRegion = allRegions ? noRegion : (regions[0]?.id ?? noRegion)
  const current = { name: location?.name ?? '', region: String(location?.regionId ?? regionId ?? firstRegion) }
  // The form keeps the values that it opened with; a save checks that they are still current.
  const [initial, setInitial] = useState(current)
  const [name, setName] = useState(initial.name)
  const [region, setRegion] = useState(initial.region)
  const create = useWrite('locationsCreate', {
    successText: (made) => `Location ${made.name} created`,
    onDone: onClose,
    quiet: true,
  })
  const update = useWrite('locationsUpdate', { successText: 'Location saved', onDone: onClose, quiet: true })
  const trimmedName = name.trim()
  const isChanged = trimmedName !== initial.name || region !== initial.region
  const id = location?.id ?? 0
  const body = { name: trimmedName, regionId: Number(region) }
  const save = useCheckedSave(
    () => checkLocation(id, { name: initial.name, regionId: Number(initial.region) }),
    () => {
      // Only changed fields are sent, so that a concurrent change of the other field is not overwritten.
      const changed = {
        ...(trimmedName !== initial.name && { name: trimmedName }),
        ...(region !== initial.region && { regionId: Number(region) }),
      }
      return update.mutateAsync({ input: { id, body: changed } })
    },
  )
  const submit = () => (location ? save.mutate() : create.mutate({ input: { body } }))
  const reload = () => {
    setInitial(current)
    setName(current.name)
    setRegion(current.region)
    save.reset()
  }
  return (
    <DialogForm
      verb={location ? 'Save location' : 'Create location'}
      canSubmit={trimmedName !== '' && isChanged}
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
    </DialogForm>
  )
}
