// Locations: what their operations take and give.

import Type from 'typebox'
import { mediumBodyBytes, operation } from '../operation.ts'
import {
  Empty,
  IdAndName,
  Int32,
  ListOf,
  MultilineText,
  Name,
  NullableId,
  OptionalOrNull,
  Shape,
  SingleLineText,
} from '../shape.ts'
import { WeeklyHours } from '../weekly-hours.ts'
import { Contact, ExternalId, SentContact, SentExternalId } from './custom-fields.ts'

const fieldsInRoom = {
  id: Int32('Identifier of the location.'),
  name: Type.String({ description: 'Name of the location.' }),
  region: Type.Optional(IdAndName('webpageLocationRegion', 'region')),
}
/** The location inside a room: it has neither a time zone nor a change window. */
export const LocationOfRoom = Shape('webpageRoomLocationAndRegion', fieldsInRoom)

const fields = {
  ...fieldsInRoom,
  timezone: Type.Optional(
    Type.String({
      description: 'Time zone of the location; absent if the location has the time zone of the organisation.',
    }),
  ),
  changeWindow: Type.Optional(WeeklyHours),
  address: Type.Optional(Type.String({ description: 'Postal address of the location; absent if not set.' })),
  contact: Contact('location'),
  externalId: ExternalId('locations'),
}
export const Location = Shape('webpageLocation', fields)

const id = Int32('Identifier of the location.')
const timezone = OptionalOrNull(
  SingleLineText(64, 'A time zone such as Europe/Oslo; null means the time zone of the organisation.'),
)
const noHours = Type.Array(Type.Null(), { maxItems: 0, description: 'An empty list means no hours, like null.' })
const changeWindow = Type.Optional(Type.Union([WeeklyHours, Type.Null(), noHours]))
export const maxAddressLength = 500
/** The fields that requests can leave out. */
const optionalBody = {
  regionId: Type.Optional(NullableId('The region of the location; 0 or null means none.')),
  timezone,
  changeWindow,
  address: OptionalOrNull(MultilineText(maxAddressLength, 'Postal address of the location; null clears it.')),
  contact: SentContact('location'),
  externalId: SentExternalId('locations'),
}
const example = { id: 3, name: 'Oslo HQ', region: { id: 11, name: 'Europe' }, timezone: 'Europe/Oslo' }

export const locationOperations = {
  locationsList: operation({
    method: 'GET',
    path: '/locations',
    tag: 'Locations',
    scope: 'read',
    summary: 'List the locations, each with the region it belongs to',
    response: ListOf('webpageLocationList', 'locations', Location),
    example: { response: { locations: [example] } },
  }),
  locationsGet: operation({
    method: 'GET',
    path: '/locations/{id}',
    tag: 'Locations',
    scope: 'read',
    summary: 'Read one location',
    params: { id },
    response: Location,
    versioned: true,
    example: { params: { id: 3 }, response: example },
  }),
  locationsCreate: operation({
    method: 'POST',
    path: '/locations',
    tag: 'Locations',
    scope: 'write',
    summary: 'Add a location, optionally in an existing region',
    body: Shape('LocationsCreateRequest', { name: Name('location'), ...optionalBody }),
    bodyLimitBytes: mediumBodyBytes,
    response: Location,
    versioned: true,
    audit: { category: 'ORG', type: 'LOCATION_CREATED' },
    example: { body: { name: 'Oslo HQ', regionId: 11, timezone: 'Europe/Oslo' }, response: example },
  }),
  locationsUpdate: operation({
    method: 'PUT',
    path: '/locations/{id}',
    tag: 'Locations',
    scope: 'write',
    summary: 'Change a location',
    description:
      'An absent key keeps its value; `regionId` 0 or null clears the region, `timezone` null the time zone, `changeWindow` null or [] the change window, and null the other keys too. At least one key is needed.',
    params: { id },
    body: Shape(
      'WebpageLocationsUpdateBody',
      { name: Type.Optional(Name('location')), ...optionalBody },
      { minProperties: 1 },
    ),
    bodyLimitBytes: mediumBodyBytes,
    response: Type.Object(fields, { title: 'webpageUpdateLocationResponse' }),
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'LOCATION_UPDATED' },
    example: { params: { id: 3 }, body: { name: 'Oslo HQ', regionId: 11 }, response: example },
  }),
  locationsDelete: operation({
    method: 'DELETE',
    path: '/locations/{id}',
    tag: 'Locations',
    scope: 'write',
    summary: 'Delete a location; its rooms stay, without a location',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'LOCATION_DELETED' },
    example: { params: { id: 3 }, response: {} },
  }),
}
