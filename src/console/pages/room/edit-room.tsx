// Renames a room, or says that it is somewhere else.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { longestName } from '../../../contract/shape.ts'
import { useWrite } from '../../api.ts'
import type { RoomDetails } from '../../domain/room/room.ts'
import { LocationSelect } from '../../domain/site/location-select.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

interface Fields {
  readonly name: string
  readonly locationId: number | null
}

const fieldsOf = ({ name, location }: RoomDetails): Fields => ({ name, locationId: location?.id ?? null })
const isSame = (a: Fields, b: Fields) => a.name === b.name && a.locationId === b.locationId

interface EditRoomProps {
  readonly id: number
  readonly onClose: () => void
}

export function EditRoom({ id, onClose }: EditRoomProps) {
  const { now, seen, reload } = useBaseline('roomsGet', { id })
  const write = useWrite('roomsUpdate', { quiet: true, successText: 'The room was changed.', onDone: onClose })
  const before = fieldsOf(seen.body)
  // The version also moves when a device joins or leaves: what is edited here is still what was seen.
  const ifMatch = isSame(before, fieldsOf(now.body)) ? now.etag : seen.etag
  return (
    <RoomForm
      key={seen.etag}
      before={before}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={(body) => write.mutate({ input: { id, body }, ifMatch })}
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    />
  )
}

interface RoomFormProps {
  readonly before: Fields
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (fields: Fields) => void
  readonly onCancel: () => void
  readonly onReload: () => void
}

function RoomForm({ before, onSubmit, ...form }: RoomFormProps) {
  const [name, setName] = useState(before.name)
  const [locationId, setLocationId] = useState(before.locationId)
  const fields = { name: name.trim(), locationId }
  return (
    <DialogForm
      verb="Save"
      canSubmit={fields.name !== '' && !isSame(fields, before)}
      onSubmit={() => onSubmit(fields)}
      {...form}
    >
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={longestName}
        required
        data-autofocus
      />
      <LocationSelect value={locationId} onChange={setLocationId} />
    </DialogForm>
  )
}
