// A file of an organisation can have every key that requests can set, or the key is left out for a reason.
import { expect, test } from 'vitest'
import { endpointValues, locationFields, profileFields, regionFields, roomFields } from '../../src/apply/values.ts'
import { operations } from '../../src/contract/operations.ts'
import * as document from '../../src/plan/document.ts'
import { kindTable } from '../../src/plan/kinds.ts'

/** A document names other things by name, so these keys have other names in it. */
const names: Readonly<Record<string, string>> = {
  regionId: 'region',
  regionIds: 'regions',
  locationId: 'location',
  locationIds: 'locations',
  roomId: 'room',
  profileId: 'profile',
  state: 'disabled',
}
const leftOut: Readonly<Record<string, string>> = {
  'endpoint sleeps': 'endpointsGet does not say whether the value was given or reported',
}
/** The place of an entry in the document says these. */
const saidByPlace: Readonly<Record<string, readonly string[]>> = { location: ['region'], room: ['location'] }

const kinds = [
  { kind: 'region', entry: document.RegionEntry, write: ['regionsCreate', 'regionsUpdate'] },
  { kind: 'location', entry: document.LocationEntry, write: ['locationsCreate', 'locationsUpdate'] },
  { kind: 'room', entry: document.RoomEntry, write: ['roomsCreate', 'roomsUpdate'] },
  { kind: 'profile', entry: document.ProfileEntry, write: ['profilesCreate', 'profilesUpdate'] },
  { kind: 'endpoint', entry: document.EndpointEntry, write: ['endpointsUpdate'] },
  { kind: 'user', entry: document.UserEntry, write: ['usersCreate', 'usersUpdate'] },
  { kind: 'channel', entry: document.ChannelEntry, write: ['channelsCreate', 'channelsUpdate'] },
  {
    kind: 'gatewayDevice',
    entry: document.GatewayDeviceEntry,
    write: ['gatewayDevicesCreate', 'gatewayDevicesUpdate'],
  },
] as const

test.each(kinds)(
  'every key that a request can set of a $kind can be in a document, or is left out with a reason',
  ({ kind, entry, write }) => {
    const keys = write.flatMap((id) => Object.keys(operations[id].body.properties))
    const fields = Object.keys(kindTable[kind].fields)
    const missing = keys.map((key) => names[key] ?? key).filter((key) => !fields.includes(key))
    expect(new Set(missing.filter((key) => leftOut[`${kind} ${key}`] === undefined))).toEqual(new Set())
    const entries = ['id', 'locations', 'rooms']
    const written = Object.keys(entry.properties).filter((key) => fields.includes(key) || !entries.includes(key))
    expect(new Set([...written, ...(saidByPlace[kind] ?? [])])).toEqual(new Set(fields))
  },
)

/** An answer that has every key. */
const full = new Proxy({}, { get: () => ({ id: 1 }) })
const reads = [
  { kind: 'region', read: () => regionFields(full as never) },
  { kind: 'location', read: () => locationFields(full as never) },
  { kind: 'room', read: () => roomFields(full as never) },
  { kind: 'profile', read: () => profileFields({ profile: full, config: {} } as never, []) },
  { kind: 'endpoint', read: () => endpointValues(full as never) },
] as const

test.each(reads)('an export reads every field of a $kind from its answer', ({ kind, read }) => {
  expect(Object.keys(read())).toEqual(expect.arrayContaining(Object.keys(kindTable[kind].fields)))
})
