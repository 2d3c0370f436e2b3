// One of everything in an organisation, and for every operation a call that succeeds there.
import { type CallInput, pathOf } from '../src/client/client.ts'
import type { Operation } from '../src/contract/operation.ts'
import { type OperationId, operations } from '../src/contract/operations.ts'
import type { Call, Harness, Reply, TestOrg } from './harness.ts'

export interface Fixture extends TestOrg {
  readonly region: number
  /** No location is assigned to this one. */
  readonly emptyRegion: number
  readonly location: number
  readonly room: number
  readonly note: string
  readonly profile: number
  readonly user: string
  readonly keyId: string
}

export async function newFixture(house: Harness): Promise<Fixture> {
  const org = await house.newOrg()
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const region = (await make('/regions', { name: 'Europe' })).id
  const emptyRegion = (await make('/regions', { name: 'Asia' })).id
  const location = (await make('/locations', { name: 'Oslo HQ', regionId: region })).id
  const room = (await make('/rooms', { name: 'Fjord', locationId: location })).id
  const note = (await make(`/rooms/${room}/notes`, { note: 'The cable is on order.' })).id
  const profile = (await make('/profiles', { name: 'Quiet', config: { nightMode: true } })).profile.id
  await make('/users', { email: 'owner@example.org', role: 'owner', regionIds: [] })
  const user = (await make('/users', { email: 'ada@example.org', role: 'admin', regionIds: [region] })).id
  const keyId = (await make('/keys', { name: 'Wall display', scopes: ['read'] })).id
  return { ...org, region, emptyRegion, location, room, note, profile, user, keyId }
}

/** An operation without a line here does not compile: that is how the walk covers all of them. */
export const calls: { readonly [K in OperationId]: (f: Fixture) => CallInput<K> } = {
  auditLogs: () => ({ from: 0, to: Date.UTC(2100, 0) }),
  regionsList: () => ({}),
  regionsCreate: () => ({ body: { name: 'Africa' } }),
  regionsUpdate: (f) => ({ id: f.region, body: { name: 'EMEA' } }),
  regionsDelete: (f) => ({ id: f.emptyRegion }),
  locationsList: () => ({}),
  locationsCreate: (f) => ({ body: { name: 'Bergen', regionId: f.region } }),
  locationsUpdate: (f) => ({ id: f.location, body: { name: 'Oslo' } }),
  locationsDelete: (f) => ({ id: f.location }),
  roomsList: (f) => ({ regionId: f.region, locationId: f.location }),
  roomsGet: (f) => ({ id: f.room }),
  roomsCreate: (f) => ({ body: { name: 'Skog', locationId: f.location } }),
  roomsUpdate: (f) => ({ id: f.room, body: { name: 'Fjell' } }),
  roomsDelete: (f) => ({ id: f.room }),
  roomsRegenerateDec: (f) => ({ id: f.room }),
  roomsAssignProfile: (f) => ({ id: f.room, body: { profileId: f.profile } }),
  roomNotesCreate: (f) => ({ roomId: f.room, body: { note: 'Done.' } }),
  roomNotesListAll: () => ({}),
  roomNotesList: (f) => ({ roomId: f.room }),
  roomNotesGet: (f) => ({ roomId: f.room, noteId: f.note }),
  roomNotesDelete: (f) => ({ roomId: f.room, noteId: f.note }),
  profilesList: () => ({}),
  profilesGet: (f) => ({ id: f.profile }),
  profilesCreate: () => ({ body: { name: 'Loud', config: { brightness: 0.8 } } }),
  profilesUpdate: (f) => ({ id: f.profile, body: { name: 'Quieter', config: {} } }),
  profilesDelete: (f) => ({ id: f.profile }),
  usersList: () => ({}),
  usersGet: (f) => ({ id: f.user }),
  usersCreate: () => ({ body: { email: 'new@example.org', role: 'admin', regionIds: [] } }),
  usersUpdate: (f) => ({ id: f.user, body: { role: 'owner' } }),
  usersDelete: (f) => ({ id: f.user }),
  keysList: () => ({}),
  keysCreate: () => ({ body: { name: 'Another', scopes: ['read'] } }),
  keysDelete: (f) => ({ id: f.keyId }),
}

/** Path below `/v1` for an operation, with parameters that succeed unless others are given. */
export function pathFor(f: Fixture, id: OperationId, org = f.id, other: Record<string, unknown> = {}): string {
  const input = calls[id](f) as Record<string, unknown>
  const escaped = Object.fromEntries(Object.entries({ ...input, ...other }))
  return pathOf(operations[id], org, escaped)
}

/** Makes the call of an operation; `call` may replace its key, body and headers. */
export function perform(
  house: Harness,
  f: Fixture,
  id: OperationId,
  call: Call & { path?: string; base?: string } = {},
): Promise<Reply> {
  const { body } = calls[id](f) as { body?: unknown }
  const { path = pathFor(f, id), base = '', ...rest } = call
  const operation: Operation = operations[id]
  return house.call(operation.method, base + path, { key: f.key, ...(body !== undefined && { body }), ...rest })
}
