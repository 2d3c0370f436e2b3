// Rooms: what the room operations take and give. [contract 5.4.room] [contract 6.rooms]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { RoomTag } from '../jobs/job-request.ts'
import { hugeBodyBytes, mediumBodyBytes, operation } from '../operation.ts'
import {
  Bom,
  Empty,
  IdAndName,
  Int32,
  ListedIds,
  ListOf,
  Name,
  NullableId,
  OneOf,
  OptionalOrNull,
  Shape,
  SingleLineText,
} from '../shape.ts'
import {
  Contact,
  CustomFieldFilters,
  CustomFields,
  ExternalId,
  SentContact,
  SentCustomFields,
  SentExternalId,
} from './custom-fields.ts'
import { Endpoint } from './endpoints.ts'
import { LocationOfRoom } from './locations.ts'

/** The worst first. */
export const roomStates = ['OFFLINE', 'DEGRADED', 'UNKNOWN', 'HEALTHY', 'EMPTY'] as const
export type RoomState = (typeof roomStates)[number]

const State = OneOf(
  roomStates,
  'EMPTY: the room has no endpoints. Endpoints that are asleep or unknown are left out of what follows, while there are others. OFFLINE: all endpoints are offline. DEGRADED: an endpoint is offline or has a failed config. UNKNOWN: no other endpoint is left, and one is unknown. HEALTHY: otherwise, also if all endpoints are asleep. Values can be added.',
)

export interface RoomCounts {
  readonly endpointCount: number
  readonly connectedCount: number
  /** Absent means 0. */
  readonly unknownCount?: number
  /** Absent means 0. */
  readonly asleepCount?: number
  readonly hasFailedConfig: boolean
}

/** The state of a room. Endpoints that are asleep or unknown are left out while there are others. [contract 5.4.room] */
export function roomStateOf({
  endpointCount,
  connectedCount,
  unknownCount = 0,
  asleepCount = 0,
  hasFailedConfig,
}: RoomCounts): RoomState {
  if (endpointCount === 0) return 'EMPTY'
  const judgedCount = endpointCount - unknownCount - asleepCount
  if (judgedCount === 0) return unknownCount > 0 ? 'UNKNOWN' : 'HEALTHY'
  if (connectedCount === 0) return 'OFFLINE'
  return connectedCount < judgedCount || hasFailedConfig ? 'DEGRADED' : 'HEALTHY'
}

const id = Int32('Identifier of the room.')
const name = Type.String({ description: 'Name of the room.' })
const capacityText = 'How many people the room is made for'
export const [minCapacity, maxCapacity] = [1, 10_000] as const
const capacityRange = { minimum: minCapacity, maximum: maxCapacity }
const capacity = Type.Optional(Type.Integer({ ...capacityRange, description: `${capacityText}; absent if not set.` }))

export const maxTags = 20
const tags = Type.Optional(
  Type.Array(RoomTag, {
    description: 'Tags of the room, which filter lists and select rooms for jobs; absent if the room has none.',
  }),
)

export const maxFloorLength = 64
const floorText = 'The floor that the room is on'
const ownValues = {
  floor: Type.Optional(Type.String({ description: `${floorText}; absent if not set.` })),
  contact: Contact('room'),
  externalId: ExternalId('rooms'),
  fields: CustomFields,
}

export const PeopleIs = Type.Optional(
  OneOf(
    ['PRESENCE'],
    'The `people` of the room is presence, not a head count: 1 if the room is in use, else 0. Absent if it is a head count, and under the legacy base.',
  ),
)

/**
 * Tells presence from a head count in the number of people of a room. `people` is the largest number of all devices, `counted` that of the
 * devices that count heads; null without a number. [contract 5.2.aggregate]
 */
export const peopleIsOf = (people: number | null, counted: number | null): 'PRESENCE' | undefined =>
  people !== null && (counted === null || counted < people) ? 'PRESENCE' : undefined

export const RoomInList = Shape('webpageRoomInList', {
  id,
  name,
  location: Type.Optional(IdAndName('webpageRoomLocation', 'location')),
  state: State,
  endpointCount: Int32('How many endpoints are in the room.'),
  connectedCount: Int32('How many endpoints of the room are connected.'),
  unknownCount: Type.Optional(Int32('How many endpoints of the room have the state UNKNOWN; absent if none has.')),
  asleepCount: Type.Optional(Int32('How many endpoints of the room are asleep; absent if none is.')),
  people: Type.Optional(Int32('How many people are in the room now; absent if no sensor reports it.')),
  peopleIs: PeopleIs,
  capacity,
  tags,
  ...ownValues,
  profileId: Type.Optional(Int32('The profile of the room.')),
})

export const Room = Shape('webpageRoom', {
  id,
  name,
  state: State,
  location: Type.Optional(LocationOfRoom),
  endpoints: Type.Array(Endpoint),
  profileId: Type.Optional(Int32('The profile of the room.')),
  capacity,
  tags,
  ...ownValues,
  dec: Type.Optional(
    Type.String({
      description: 'Enrolment code, only for callers with the scope operate or write; absent if the code has expired.',
    }),
  ),
  enrolmentUrl: Type.Optional(
    Type.String({
      description: 'Address to enrol a device in the room, which its QR code contains; there with `dec`.',
    }),
  ),
  decUsed: Type.Optional(
    Type.String({ description: 'First use of the code, Unix seconds; -62135596800 means never used.' }),
  ),
  decTimeout: Type.Optional(Int32('Hours after the first use at which the code expires.')),
})

const listed = {
  id: 7,
  name: 'Fjord',
  location: { id: 3, name: 'Oslo HQ' },
  state: 'HEALTHY',
  endpointCount: 2,
  connectedCount: 2,
  capacity: 8,
}
const example = {
  id: 7,
  name: 'Fjord',
  state: 'EMPTY',
  location: { id: 3, name: 'Oslo HQ', region: { id: 11, name: 'Europe' } },
  endpoints: [],
  capacity: 8,
  dec: 'K7QF-2MXA-9TPD',
  enrolmentUrl: 'https://rooms.example.org/enrol#K7QF-2MXA-9TPD',
  decUsed: '-62135596800',
  decTimeout: 24,
}
const sentTags = OptionalOrNull(
  Type.Array(RoomTag, { maxItems: maxTags, description: 'Tags of the room; null or an empty list clears them.' }),
)
const body = {
  name: Name('room'),
  locationId: Type.Optional(NullableId('Location of the room; 0, null or absent means none.')),
  capacity: OptionalOrNull(Type.Integer({ ...capacityRange, description: `${capacityText}; null means not set.` })),
  tags: sentTags,
  floor: OptionalOrNull(SingleLineText(maxFloorLength, `${floorText}; null clears it.`)),
  contact: SentContact('room'),
  externalId: SentExternalId('rooms'),
  fields: SentCustomFields,
}
const filters = {
  regionId: Int32('Only rooms in this region.'),
  locationId: Int32('Only rooms in this location.'),
  tag: Type.String({ description: 'Only rooms with this tag.' }),
  field: CustomFieldFilters,
  ids: ListedIds('rooms'),
}

export const roomOperations = {
  roomsList: operation({
    method: 'GET',
    path: '/rooms',
    tag: 'Rooms',
    scope: 'read',
    summary: 'List the rooms',
    query: { ...filters, bom: Bom },
    response: ListOf('webpageRoomList', 'rooms', RoomInList),
    csv: true,
    csvList: csvList('rooms', 'rooms', RoomInList),
    example: { query: { locationId: 3 }, response: { rooms: [listed] } },
  }),
  roomsGet: operation({
    method: 'GET',
    path: '/rooms/{id}',
    tag: 'Rooms',
    scope: 'read',
    summary: 'Read one room with its endpoints',
    description: 'The enrolment code is shown only to callers with the scope operate or write.',
    params: { id },
    response: Room,
    versioned: true,
    example: { params: { id: 7 }, response: example },
  }),
  roomsCreate: operation({
    method: 'POST',
    path: '/rooms',
    tag: 'Rooms',
    scope: 'write',
    summary: 'Create a room; the answer holds its enrolment code',
    body: Shape('RoomsCreateRequest', {
      ...body,
      profileId: Type.Optional(NullableId('Profile of the room; 0, null or absent means none.')),
    }),
    bodyLimitBytes: hugeBodyBytes,
    response: Room,
    versioned: true,
    audit: { category: 'ORG', type: 'ROOM_CREATED' },
    example: { body: { name: 'Fjord', locationId: 3, capacity: 8 }, response: example },
  }),
  roomsUpdate: operation({
    method: 'PUT',
    path: '/rooms/{id}',
    tag: 'Rooms',
    scope: 'write',
    summary: 'Change a room',
    description: 'An absent `locationId` clears the location. Any other absent key stays, and null clears it.',
    params: { id },
    body: Shape('RoomsUpdateRequest', body),
    bodyLimitBytes: hugeBodyBytes,
    response: Room,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'ROOM_UPDATED' },
    example: { params: { id: 7 }, body: { name: 'Fjord', locationId: 3, capacity: 8 }, response: example },
  }),
  roomsDelete: operation({
    method: 'DELETE',
    path: '/rooms/{id}',
    tag: 'Rooms',
    scope: 'write',
    summary: 'Delete a room; its endpoints are unenrolled',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'ROOM_DELETED' },
    example: { params: { id: 7 }, response: {} },
  }),
  roomsRegenerateDec: operation({
    method: 'POST',
    path: '/rooms/{id}/regenerate_dec',
    otherPaths: ['/rooms/{id}/regenerate-dec'],
    tag: 'Rooms',
    scope: 'write',
    operate: true,
    summary: 'Give the room a new enrolment code; the old one stops working',
    params: { id },
    response: Shape('webpageRegenerateDecResponse', { dec: Type.String({ description: 'The new enrolment code.' }) }),
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_ENROLMENT_CODE_GENERATED' },
    example: { params: { id: 7 }, response: { dec: 'K7QF-2MXA-9TPD' } },
  }),
  roomsEnrolmentGet: operation({
    method: 'GET',
    path: '/rooms/{id}/enrolment',
    tag: 'Rooms',
    scope: 'write',
    operate: true,
    summary: 'Read how to enrol a device in a room: code, address and QR code',
    description: 'Fails with FAILED_PRECONDITION when the code has expired.',
    params: { id },
    response: Shape('webpageRoomEnrolment', {
      dec: Type.String({ description: 'Enrolment code.' }),
      url: Type.String({ description: 'The content of the QR code.' }),
      qr: Type.String({ description: 'The QR code, an SVG picture.' }),
    }),
    example: {
      params: { id: 7 },
      response: {
        dec: 'K7QF-2MXA-9TPD',
        url: 'https://rooms.example.org/enrol#K7QF-2MXA-9TPD',
        qr: '<svg xmlns="http://www.w3.org/2000/svg">…</svg>',
      },
    },
  }),
  roomsAssignProfile: operation({
    method: 'PUT',
    path: '/rooms/{id}/profile',
    tag: 'Profiles',
    scope: 'write',
    summary: 'Assign a profile to a room and all its endpoints, or clear it',
    params: { id },
    body: Shape('AssignProfileRequest', { profileId: NullableId('The profile; null or 0 clears it.') }),
    bodyLimitBytes: mediumBodyBytes,
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'PROFILE_ASSIGNED', undoType: 'PROFILE_UNASSIGNED' },
    example: { params: { id: 7 }, body: { profileId: 2 }, response: {} },
  }),
}
