// The form of a region: a new one, or another name for one that is there.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { longestName } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'
import { checkRegion, useSave } from './site-now.ts'
import type { RegionNode } from './site-tree.ts'

interface RegionFormProps {
  /** Absent: a new one. */
  readonly region?: RegionNode
  readonly onClose: () => void
}

export function RegionForm({ region, onClose }: RegionFormProps) {
  // As the form began: what the person has seen.
  const [before, setBefore] = useState(region?.name ?? '')
  const [name, setName] = useState(before)
  const create = useWrite('regionsCreate', {
    successText: (made) => `Region ${made.name} was created.`,
    onDone: onClose,
    quiet: true,
  })
  const rename = useWrite('regionsUpdate', { successText: 'The region was renamed.', onDone: onClose, quiet: true })
  const wanted = name.trim()
  const id = region?.id ?? 0
  const save = useSave(
    () => checkRegion(id, before),
    () => rename.mutateAsync({ input: { id, body: { name: wanted } } }),
  )
  const submit = () => (region ? save.mutate() : create.mutate({ input: { body: { name: wanted } } }))
  const reload = () => {
    setBefore(region?.name ?? '')
    setName(region?.name ?? '')
    save.reset()
  }
  return (
    <DialogForm
      verb={region ? 'Rename region' : 'Create region'}
      canSubmit={wanted !== '' && wanted !== before}
      isBusy={create.isPending || save.isPending}
      error={create.error ?? save.error}
      onSubmit={submit}
      onCancel={onClose}
      onReload={reload}
    >
      <TextInput
        label="Name of the region"
        description={region ? undefined : 'A region groups locations: a country, a campus, a part of the company.'}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={longestName}
        autoComplete="off"
        data-autofocus
      />
    </DialogForm>
  )
}
