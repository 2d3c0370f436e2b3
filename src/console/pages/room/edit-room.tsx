// Changes a room in a form.
import { NumberInput, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { CustomFields } from '../../../contract/fleet/custom-fields.ts'
import { maxCapacity, maxFloorLength, maxTags, minCapacity } from '../../../contract/fleet/rooms.ts'
import { maxNameLength } from '../../../contract/shape.ts'
import { operationQuery, useWrite } from '../../api.ts'
import { areLinesValid, customFieldNames, fieldChanges, fieldLines } from '../../domain/fleet/fields/custom-fields.ts'
import { CustomFieldsEditor } from '../../domain/fleet/fields/custom-fields-editor.tsx'
import { ContactField, ExternalIdField, textOrNull } from '../../domain/fleet/fields/text-fields.tsx'
import type { RoomDetails } from '../../domain/fleet/room/room.ts'
import { LocationSelect } from '../../domain/fleet/site/location-select.tsx'
import { useBaseline } from '../../parts/dialog/concurrent-change.ts'
import { DialogForm } from '../../parts/dialog/dialog-form.tsx'

interface RoomFields {
  readonly name: string
  readonly locationId: number | null
  readonly capacity: number | null
  readonly tags: readonly string[]
  readonly floor: string | null
  readonly contact: string | null
  readonly externalId: string | null
}

const fieldsOf = ({ name, location, capacity, tags, floor, contact, externalId }: RoomDetails): RoomFields => ({
  name,
  locationId: location?.id ?? null,
  capacity: capacity ?? null,
  tags: tags ?? [],
  floor: floor ?? null,
  contact: contact ?? null,
  externalId: externalId ?? null,
})
const isSame = (a: RoomFields, b: RoomFields) => JSON.stringify(a) === JSON.stringify(b)

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
  const hasSameFields = JSON.stringify(seen.body.fields) === JSON.stringify(now.body.fields)
  const ifMatch = hasSameFields && isSame(initial, fieldsOf(now.body)) ? now.etag : seen.etag
  return (
    <RoomForm
      key={seen.etag}
      initial={initial}
      customFields={seen.body.fields}
      isBusy={write.isPending}
      error={write.error}
      onSubmit={({ tags, ...values }, fields) =>
        write.mutate({ input: { id, body: { ...values, tags: [...tags], ...(fields && { fields }) } }, ifMatch })
      }
      onCancel={onClose}
      onReload={() => reload(write.reset)}
    />
  )
}

interface RoomFormProps {
  readonly initial: RoomFields
  readonly customFields: CustomFields | undefined
  readonly isBusy: boolean
  readonly error: unknown
  readonly onSubmit: (values: RoomFields, fields: ReturnType<typeof fieldChanges>) => void
  readonly onCancel: () => void
  readonly onReload: () => void
}

function RoomForm({ initial, customFields, onSubmit, ...form }: RoomFormProps) {
  const [name, setName] = useState(initial.name)
  const [locationId, setLocationId] = useState(initial.locationId)
  const [capacity, setCapacity] = useState<number | null>(initial.capacity)
  const [tags, setTags] = useState(initial.tags)
  const [floor, setFloor] = useState(initial.floor ?? '')
  const [contact, setContact] = useState(initial.contact ?? '')
  const [externalId, setExternalId] = useState(initial.externalId ?? '')
  const [lines, setLines] = useState(() => fieldLines(customFields))
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  const knownTags = useMemo(() => [...new Set(rooms?.flatMap((room) => room.tags ?? []))].sort(), [rooms])
  const knownNames = useMemo(() => customFieldNames(rooms ?? []), [rooms])
  const wrongTag = tags.find((tag) => !tagPattern.test(tag))
  const isCapacityAllowed = capacity === null || (capacity >= minCapacity && capacity <= maxCapacity)
  const values = {
    ...{ name: name.trim(), locationId, capacity, tags },
    ...{ floor: textOrNull(floor), contact: textOrNull(contact), externalId: textOrNull(externalId) },
  }
  const fields = fieldChanges(customFields, lines)
  const isValid = values.name !== '' && isCapacityAllowed && wrongTag === undefined && areLinesValid(lines)
  return (
    <DialogForm
      verb="Save"
      canSubmit={isValid && (fields !== undefined || !isSame(values, initial))}
      onSubmit={() => onSubmit(values, fields)}
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
      <TextInput
        label="Floor"
        description="Optional."
        value={floor}
        onChange={(event) => setFloor(event.currentTarget.value)}
        maxLength={maxFloorLength}
      />
      <ContactField value={contact} onChange={setContact} />
      <ExternalIdField value={externalId} onChange={setExternalId} />
      <CustomFieldsEditor lines={lines} knownNames={knownNames} onChange={setLines} />
    </DialogForm>
  )
}
