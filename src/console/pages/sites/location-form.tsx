// The form of a location: its name, and the region that it is in.
import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { longestName } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { checkLocation, useSave } from './site-now.ts'
import type { LocationNode, RegionNode } from './site-tree.ts'

interface LocationFormProps {
  /** Absent: a new one. */
  readonly location?: LocationNode
  /** Where a new one begins. */
  readonly regionId?: number | undefined
  readonly regions: readonly RegionNode[]
  readonly onClose: () => void
}

const none = '0'

export function LocationForm({ location, regionId, regions, onClose }: LocationFormProps) {
  const now = { name: location?.name ?? '', region: String(location?.regionId ?? regionId ?? none) }
  // As the form began: what the person has seen.
  const [before, setBefore] = useState(now)
  const [name, setName] = useState(before.name)
  const [region, setRegion] = useState(before.region)
  const create = useWrite('locationsCreate', {
    successText: (made) => `Location ${made.name} was created.`,
    onDone: onClose,
    quiet: true,
  })
  const update = useWrite('locationsUpdate', { successText: 'The location was changed.', onDone: onClose, quiet: true })
  const wanted = name.trim()
  const isChanged = wanted !== before.name || region !== before.region
  const id = location?.id ?? 0
  const body = { name: wanted, regionId: Number(region) }
  const save = useSave(
    () => checkLocation(id, { name: before.name, regionId: Number(before.region) }),
    () => {
      // Only what was changed here is sent: what somebody else changes at this moment stays.
      const changed = {
        ...(wanted !== before.name && { name: wanted }),
        ...(region !== before.region && { regionId: Number(region) }),
      }
      return update.mutateAsync({ input: { id, body: changed } })
    },
  )
  const submit = () => (location ? save.mutate() : create.mutate({ input: { body } }))
  const reload = () => {
    setBefore(now)
    setName(now.name)
    setRegion(now.region)
    save.reset()
  }
  return (
    <DialogForm
      verb={location ? 'Save location' : 'Create location'}
      canSubmit={wanted !== '' && isChanged}
      isBusy={create.isPending || save.isPending}
      error={create.error ?? save.error}
      onSubmit={submit}
      onCancel={onClose}
      onReload={reload}
    >
      <TextInput
        label="Name of the location"
        description={location ? undefined : 'A location is where rooms are: a building, or a floor of one.'}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={longestName}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label="Region"
        description={location && location.rooms > 0 ? 'Its rooms and their devices go with it.' : undefined}
        data={[
          { value: none, label: 'In no region' },
          ...regions.map(({ id, name: label }) => ({ value: String(id), label })),
        ]}
        value={region}
        onChange={(value) => setRegion(value ?? none)}
        searchable={regions.length > 8}
        allowDeselect={false}
        maxDropdownHeight={260}
      />
    </DialogForm>
  )
}
