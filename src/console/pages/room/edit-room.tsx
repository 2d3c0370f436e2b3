// Renames a room or changes its location in a form.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { maxNameLength } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { LocationSelect } from '../../domain/site/location-select.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

interface RoomFields {
  readonly name: string
  readonly locationId: number | null
}

const fieldsOf = ({ name, location }: RoomDetails): RoomFields => ({ name, locationId: location?.id ?? null })
const isSame = (a: RoomFields, b: RoomFields) => a.name === b.name && a.locationId === b.locationId

interface EditRoomProps {
  readonly id: number
  readonly onClose: () => void
}

export function EditRoom({ id, onClose }: EditRoomProps) {
  const { now, seen, reload } = useBaseline('roomsGet', { id })
  const write = useWrite('roomsUpdate', { quiet: true, successText: 'Room saved', onDone: onClose })
  const initial = fieldsOf(seen.body)
  // The ETag also changes when a device joins or leaves. While the edited fields are unchanged, the new ETag is used.
  const ifMatch = isSame(initial, fieldsOf(now.body)) ? now.etag : seen.etag
  return (
    <RoomForm
      key={seen.etag}
      initial={initial}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={(body) => write.mutate({ input: { id, body }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    />
  )
}

interface RoomFormProps {
  readonly initial: RoomFields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: RoomFields) => void
  readonly onCancel: () => void
  readonly onReload: () => void
}

function RoomForm({ initial, onSubmit, ...form }: RoomFormProps) {
  const [name, setName] = useState(initial.name)
  const [locationId, setLocationId] = useState(initial.locationId)
  const fields = { name: name.trim(), locationId }
  return (
    <DialogForm
      verb="Save"
      canSubmit={fields.name !== '' && !isSame(fields, initial)}
      onSubmit={() => onSubmit(fields)}
      {...form}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={maxNameLength}
        required
        data-autofocus
      />
      <LocationSelect value={locationId} onChange={setLocationId} />
    </DialogForm>
  )
}
