// Creates or renames a region in a form.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { checkRegion, useCheckedSave } from './site-checks.ts'
import type { RegionNode } from './site-tree.ts'

interface RegionFormProps {
  /** A new region has none. */
  readonly region?: RegionNode
  readonly onClose: () => void
}

export function RegionForm({ region, onClose }: RegionFormProps) {
  // The form keeps the values that it opened with; a save checks that they are still current.
  const [initial, setInitial] = useState(region?.name ?? '')
  const [name, setName] = useState(initial)
  const create = useWrite('regionsCreate', {
    successText: (made) => `Region ${made.name} created`,
    onDone: onClose,
    quiet: true,
  })
  const rename = useWrite('regionsUpdate', { successText: 'Region renamed', onDone: onClose, quiet: true })
  const trimmedName = name.trim()
  const id = region?.id ?? 0
  const save = useCheckedSave(
    () => checkRegion(id, initial),
    () => rename.mutateAsync({ input: { id, body: { name: trimmedName } } }),
  )
  const submit = () => (region ? save.mutate() : create.mutate({ input: { body: { name: trimmedName } } }))
  const reload = () => {
    setInitial(region?.name ?? '')
    setName(region?.name ?? '')
    save.reset()
  }
  return (
    <DialogForm
      verb={region ? 'Rename region' : 'Create region'}
      canSubmit={trimmedName !== '' && trimmedName !== initial}
      isBusy={create.isPending || save.isPending}
      error={create.error ?? save.error}
      onSubmit={submit}
      onCancel={onClose}
      onReload={reload}
    >
      <TextInput
        label="Region name"
        description={region ? undefined : 'A group of locations, such as a country or a campus.'}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
    </DialogForm>
  )
}
