// Rooms: one function for each operation. [contract 6.rooms] [contract 5.4.room]
import type { Static } from 'typebox'
import type { Room } from '../../../contract/rooms.ts'
import { checkIfMatch, etagOf } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { found, referred } from '../../core/failure.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Ready } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change, ref } from '../audit/change.ts'
import { cancelOpenOperations } from '../commands/store.ts'
import { operationDraft, operationView } from '../commands/view.ts'
import { makeVersions } from '../configs/make-versions.ts'
import {
  deleteEndpointsInRoom,
  listEndpointsInRoom,
  touchEndpointsInRoom,
  updateProfileInRoom,
} from '../endpoints/store.ts'
import { endpointRef, endpointText } from '../endpoints/view.ts'
import { findLocation } from '../locations/store.ts'
import { listNotesOfRoom } from '../notes/store.ts'
import { findProfile } from '../profiles/store.ts'
import { freshSince } from '../sensors/view.ts'
import { codeMac, decFields, defaultDecTimeout, makeCode, sealContext } from './enrolment-code.ts'
import {
  deleteRoom,
  findRoom,
  hasFailedConfig,
  indexDec,
  insertRoom,
  listRooms,
  type RoomRow,
  updateDec,
  updateRoom,
  updateRoomProfile,
} from './store.ts'

export async function roomsList(by: By, { regionId, locationId }: InputOf<'roomsList'>['query']) {
  const fresh = freshSince(by.ground)
  const rows = await listRooms(by.ground.db, by.org.key, fresh, regionId, locationId)
  return {
    rooms: rows.map((row) => {
      const endpointCount = Number(row.endpoints)
      const connectedCount = Number(row.connected)
      return {
        id: row.id,
        name: row.name,
        ...(row.location_id !== null && { location: { id: row.location_id, name: row.location_name ?? '' } }),
        state: stateOf(endpointCount, connectedCount, Number(row.failed) > 0),
        endpointCount,
        connectedCount,
        ...(row.people !== null && { people: row.people }),
      }
    }),
  }
}

export const roomsGet = async (by: By, id: number) => view(by, by.ground.db, await existing(by.ground.db, by, id))

export const roomsCreate = (by: By, body: InputOf<'roomsCreate'>['body']) =>
  change(by, 'roomsCreate', async (tx) => {
    const location = await locationFor(tx, by, body.locationId)
    const id = await nextId(tx, by.org.key, 'room')
    const code = sealedCode(by, id)
    await insertRoom(tx, {
      org: by.org.key,
      id,
      name: body.name,
      location_id: location?.id ?? null,
      dec_sealed: code.sealed,
      dec_timeout: defaultDecTimeout,
    })
    await indexDec(tx, by.org.key, id, code.mac)
    return {
      result: await view(by, tx, await existing(tx, by, id)),
      target: ref('room', { id, name: body.name }),
      after: { name: body.name, locationId: location?.id ?? null },
    }
  })

export const roomsUpdate = (by: By, id: number, body: InputOf<'roomsUpdate'>['body']) =>
  change(by, 'roomsUpdate', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const location = await locationFor(tx, by, body.locationId)
    await updateRoom(tx, by.org.key, id, body.name, location?.id ?? null)
    await touchEndpointsInRoom(tx, by.org.key, id)
    return {
      result: await view(by, tx, await existing(tx, by, id)),
      target: ref('room', { id, name: body.name }),
      before: { name: room.name, locationId: room.location_id },
      after: { name: body.name, locationId: location?.id ?? null },
    }
  })

export async function roomsDelete(by: By, id: number) {
  const unenrolled = await change(by, 'roomsDelete', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const notes = await listNotesOfRoom(tx, by.org.key, id)
    const endpoints = await deleteEndpointsInRoom(tx, by.org.key, id, by.ground.clock.now())
    const endpointIds = endpoints.map((e) => e.id)
    const cancelled = await cancelOpenOperations(tx, by.org.key, endpointIds, by.ground.clock.now())
    tx.announced.push(...cancelled.map((row) => operationDraft(operationView(row), [id])))
    await deleteRoom(tx, by.org.key, id)
    return {
      result: endpointIds,
      target: ref('room', room),
      before: { name: room.name, locationId: room.location_id, profileId: room.profile_id },
      affected: [
        ...endpoints.map(endpointRef),
        ...notes.map((n) => ref('roomNote', { id: n.id, name: beginning(n.note) })),
      ],
    }
  })
  by.ground.devices.cut(unenrolled)
  return {}
}

export const roomsRegenerateDec = (by: By, id: number) =>
  change(by, 'roomsRegenerateDec', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const code = sealedCode(by, id)
    await updateDec(tx, by.org.key, id, code.sealed)
    await indexDec(tx, by.org.key, id, code.mac)
    return { result: { dec: code.text }, target: ref('room', room) }
  })

/** Its endpoints get the profile too; what is desired of those that had another changes. [contract 5.4.profile] */
export async function roomsAssignProfile(by: By, id: number, profileId: number | null) {
  const changed = await change(by, 'roomsAssignProfile', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const to = (await profileFor(tx, by, profileId))?.id ?? null
    await updateRoomProfile(tx, by.org.key, id, to)
    const endpoints = await listEndpointsInRoom(tx, by.org.key, id)
    await updateProfileInRoom(tx, by.org.key, id, to)
    const others = endpoints.filter((e) => e.profile_id !== to).map((e) => e.id)
    await makeVersions(tx, by, others)
    return {
      result: others,
      target: ref('room', room),
      before: { profileId: room.profile_id },
      after: { profileId: to },
      affected: endpoints.map(endpointRef),
      undone: to === null,
    }
  })
  by.ground.devices.wake(changed)
  return {}
}

const existing = async (on: Reader, by: By, id: number) => found(await findRoom(on, by.org.key, id), `room ${id}`)

const locationFor = (tx: Tx, by: By, id: number | null | undefined) =>
  referred('location', id, (known) => findLocation(tx, by.org.key, known))

const profileFor = (tx: Tx, by: By, id: number | null) =>
  referred('profile', id, (known) => findProfile(tx, by.org.key, known))

function sealedCode(by: By, room: number) {
  const text = makeCode()
  const { secrets } = by.ground
  return { text, sealed: secrets.seal(text, sealContext(by.org.id, room)), mac: codeMac(secrets, text) }
}

/** In code points: half of a character is no text. */
const beginning = (text: string) => [...text.slice(0, 120)].slice(0, 60).join('')

function stateOf(endpoints: number, connected: number, hasFailed: boolean): Static<typeof Room>['state'] {
  if (endpoints === 0) return 'EMPTY'
  if (connected === 0) return 'OFFLINE'
  return connected < endpoints || hasFailed ? 'DEGRADED' : 'HEALTHY'
}

async function view(by: By, on: Reader, room: RoomRow): Promise<Ready> {
  const endpoints = await listEndpointsInRoom(on, by.org.key, room.id)
  const connected = endpoints.filter((e) => e.connected === 1).length
  const { secrets, clock } = by.ground
  const head = JSON.stringify({
    id: room.id,
    name: room.name,
    state: stateOf(endpoints.length, connected, await hasFailedConfig(on, by.org.key, room.id)),
    ...(room.location_id !== null && {
      location: {
        id: room.location_id,
        name: room.location_name ?? '',
        ...(room.region_id !== null && { region: { id: room.region_id, name: room.region_name ?? '' } }),
      },
    }),
    ...(room.profile_id !== null && { profileId: room.profile_id }),
    ...(by.may('write') && decFields(secrets, sealContext(by.org.id, room.id), room, clock.now())),
  } satisfies Omit<Static<typeof Room>, 'endpoints'>)
  const list = endpoints.map((e) => endpointText(e, room.name)).join()
  return new Ready(etagOf(room.version), `${head.slice(0, -1)},"endpoints":[${list}]}`)
}
