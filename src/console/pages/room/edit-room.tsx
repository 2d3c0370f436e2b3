// Changes the name, the location, the capacity and the tags of a room in a form.
import { NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { maxCapacity, maxTags, minCapacity } from '../../../contract/fleet/rooms.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import { operationQuery, useWrite } from '../../api.ts'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { LocationSelect } from '../../domain/fleet/site/location-select.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

interface RoomFields {
  readonly name: string
  readonly locationId: number | null
  readonly capacity: number | null
  readonly tags: readonly string[]
}

const fieldsOf = ({ name, location, capacity, tags }: RoomDetails): RoomFields => ({
  name,
  locationId: location?.id ?? null,
  capacity: capacity ?? null,
  tags: tags ?? [],
})
const isSame = (a: RoomFields, b: RoomFields) =>
  a.name === b.name && a.locationId === b.locationId && a.capacity === b.capacity && a.tags.join() === b.tags.join()

const tagPattern = /^[a-z0-9-]{1,40}$/

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
      onSubmit={({ tags, ...fields }) => write.mutate({ input: { id, body: { ...fields, tags: [...tags] } }, ifMatch })}
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
  const [capacity, setCapacity] = useState<number | null>(initial.capacity)
  const [tags, setTags] = useState(initial.tags)
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  const knownTags = useMemo(() => [...new Set(rooms?.flatMap((room) => room.tags ?? []))].sort(), [rooms])
  const wrongTag = tags.find((tag) => !tagPattern.test(tag))
  const isCapacityAllowed = capacity === null || (capacity >= minCapacity && capacity <= maxCapacity)
  const fields = { name: name.trim(), locationId, capacity, tags }
  return (
    <DialogForm
      verb="Save"
      canSubmit={fields.name !== '' && isCapacityAllowed && wrongTag === undefined && !isSame(fields, initial)}
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
      <NumberInput
        label="Capacity"
        description="Maximum number of people. Optional."
        value={capacity ?? ''}
        onChange={(value) => setCapacity(typeof value === 'number' ? value : null)}
        min={minCapacity}
        max={maxCapacity}
        // A value outside the limits is reported, not corrected silently.
        clampBehavior="none"
        error={isCapacityAllowed ? undefined : `From ${minCapacity} to ${maxCapacity} people.`}
        allowDecimal={false}
        allowNegative={false}
      />
      <TagsInput
        label="Tags"
        description="Lists are filtered by tags, and jobs choose rooms by them. Press Enter after each."
        value={[...tags]}
        onChange={(chosen) => setTags(chosen.map((tag) => tag.toLowerCase()))}
        data={knownTags}
        maxTags={maxTags}
        error={wrongTag !== undefined && `${wrongTag} is not possible: use up to 40 of a to z, 0 to 9 and hyphens.`}
      />
    </DialogForm>
  )
}
