// Creates or renames a region in a form.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

export function NewRegionForm({ onClose }: { readonly onClose: () => void }) {
  const create = useWrite('regionsCreate', {
    successText: (made) => `Region ${made.name} created`,
    onDone: onClose,
    quiet: true,
  })
  return (
    <RegionForm
      verb="Create region"
      description="A group of locations, such as a country or a campus."
      initial=""
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(name) => create.mutate({ input: { body: { name } } })}
      onCancel={onClose}
    />
  )
}

/** Overwrites only the name that the form opened with. [contract 7.11] */
export function RenameRegionForm({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const { now, seen, reload } = useBaseline('regionsGet', { id })
  const rename = useWrite('regionsUpdate', { successText: 'Region renamed', onDone: onClose, quiet: true })
  // The ETag also changes when a location joins or leaves. While the name is unchanged, the new ETag is used.
  const ifMatch = now.body.name === seen.body.name ? now.etag : seen.etag
  return (
    <RegionForm
      key={seen.etag}
      verb="Rename region"
      initial={seen.body.name}
      isBusy={rename.isPending}
      error={rename.error}
      onSubmit={(name) => rename.mutate({ input: { id, body: { name } }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(rename.reset)}
    />
  )
}

interface RegionFormProps {
  readonly verb: string
  readonly description?: string
  readonly initial: string
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (name: string) => void
  readonly onCancel: () => void
  readonly onReload?: () => void
}

function RegionForm({ description, initial, onSubmit, ...form }: RegionFormProps) {
  const [name, setName] = useState(initial)
  const trimmedName = name.trim()
  return (
    <DialogForm
      canSubmit={trimmedName !== '' && trimmedName !== initial}
      onSubmit={() => onSubmit(trimmedName)}
      {...form}
    >
      <TextInput
        label="Region name"
        description={description}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
    </DialogForm>
  )
}
