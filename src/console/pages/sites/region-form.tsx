// Creates a region in a form, or changes its name and its external id.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import { ExternalIdField, textOrNull } from '../../domain/fleet/fields/text-fields.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

/** The fields as regionsCreate and regionsUpdate take them. */
interface RegionFields {
  readonly name: string
  readonly externalId: string | null
}

const fieldsOf = ({ name, externalId }: { readonly name: string; readonly externalId?: string }): RegionFields => ({
  name,
  externalId: externalId ?? null,
})
const isSame = (a: RegionFields, b: RegionFields) => a.name === b.name && a.externalId === b.externalId

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
      initial={fieldsOf({ name: '' })}
      isBusy={create.isPending}
      error={create.error}
      onSubmit={(body) => create.mutate({ input: { body } })}
      onCancel={onClose}
    />
  )
}

/** Overwrites only the version that the form opened with. [contract 7.11] */
export function EditRegionForm({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const { now, seen, reload } = useBaseline('regionsGet', { id })
  const update = useWrite('regionsUpdate', { successText: 'Region saved', onDone: onClose, quiet: true })
  const initial = fieldsOf(seen.body)
  // The ETag also changes when a location joins or leaves. While the edited fields are unchanged, the new ETag is used.
  const ifMatch = isSame(initial, fieldsOf(now.body)) ? now.etag : seen.etag
  return (
    <RegionForm
      key={seen.etag}
      verb="Save region"
      initial={initial}
      isBusy={update.isPending}
      error={update.error}
      onSubmit={(body) => update.mutate({ input: { id, body }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(update.reset)}
    />
  )
}

interface RegionFormProps {
  readonly verb: string
  readonly description?: string
  readonly initial: RegionFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: RegionFields) => void
  readonly onCancel: () => void
  readonly onReload?: () => void
}

function RegionForm({ description, initial, onSubmit, ...form }: RegionFormProps) {
  const [name, setName] = useState(initial.name)
  const [externalId, setExternalId] = useState(initial.externalId ?? '')
  const fields = { name: name.trim(), externalId: textOrNull(externalId) }
  return (
    <DialogForm canSubmit={fields.name !== '' && !isSame(fields, initial)} onSubmit={() => onSubmit(fields)} {...form}>
      <TextInput
        label="Region name"
        description={description}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        autoComplete="off"
        data-autofocus
      />
      <ExternalIdField value={externalId} onChange={setExternalId} />
    </DialogForm>
  )
}
