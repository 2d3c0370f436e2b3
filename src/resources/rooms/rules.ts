// Rooms: one function for each operation. [contract 6.rooms] [contract 5.4.room]
import type { Static } from 'typebox'
import type { Room } from '../../contract/rooms.ts'
import type { By } from '../../platform/by.ts'
import { nextId } from '../../platform/db/counter.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { found, referred } from '../../platform/failure.ts'
import { Versioned } from '../../platform/http/answer.ts'
import type { InputOf } from '../../platform/http/handlers.ts'
import { checkIfMatch } from '../../platform/version.ts'
import { change, ref } from '../audit/change.ts'
import {
  deleteEndpointsInRoom,
  listEndpointsInRoom,
  touchEndpointsInRoom,
  updateProfileInRoom,
} from '../endpoints/store.ts'
import { endpointView } from '../endpoints/view.ts'
import { findLocation } from '../locations/store.ts'
import { listNotesOfRoom } from '../notes/store.ts'
import { findProfile } from '../profiles/store.ts'
import { codeMac, decFields, defaultDecTimeout, makeCode, sealContext } from './enrolment-code.ts'
import {
  deleteRoom,
  findRoom,
  indexDec,
  insertRoom,
  listRooms,
  type RoomRow,
  updateDec,
  updateRoom,
  updateRoomProfile,
} from './store.ts'

export async function roomsList(by: By, { regionId, locationId }: InputOf<'roomsList'>['query']) {
  const rows = await listRooms(by.ground.db, by.org.key, regionId, locationId)
  return {
    rooms: rows.map((row) => {
      const endpointCount = Number(row.endpoints)
      const connectedCount = Number(row.connected)
      return {
        id: row.id,
        name: row.name,
        ...(row.location_id !== null && { location: { id: row.location_id, name: row.location_name ?? '' } }),
        state: stateOf(endpointCount, connectedCount),
        endpointCount,
        connectedCount,
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

export const roomsDelete = (by: By, id: number) =>
  change(by, 'roomsDelete', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const notes = await listNotesOfRoom(tx, by.org.key, id)
    const endpoints = await deleteEndpointsInRoom(tx, by.org.key, id)
    await deleteRoom(tx, by.org.key, id)
    return {
      result: {},
      target: ref('room', room),
      before: { name: room.name, locationId: room.location_id, profileId: room.profile_id },
      affected: [
        ...endpoints.map((e) => ref('endpoint', { id: e.id, name: e.serial })),
        ...notes.map((n) => ref('roomNote', { id: n.id, name: beginning(n.note) })),
      ],
    }
  })

export const roomsRegenerateDec = (by: By, id: number) =>
  change(by, 'roomsRegenerateDec', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const code = sealedCode(by, id)
    await updateDec(tx, by.org.key, id, code.sealed)
    await indexDec(tx, by.org.key, id, code.mac)
    return { result: { dec: code.text }, target: ref('room', room) }
  })

export const roomsAssignProfile = (by: By, id: number, profileId: number | null) =>
  change(by, 'roomsAssignProfile', async (tx) => {
    const room = await existing(tx, by, id)
    checkIfMatch(by, room.version)
    const profile = await profileFor(tx, by, profileId)
    await updateRoomProfile(tx, by.org.key, id, profile?.id ?? null)
    const endpoints = await updateProfileInRoom(tx, by.org.key, id, profile?.id ?? null)
    return {
      result: {},
      target: ref('room', room),
      before: { profileId: room.profile_id },
      after: { profileId: profile?.id ?? null },
      affected: endpoints.map((e) => ref('endpoint', { id: e.id, name: e.serial })),
      undone: profile === undefined,
    }
  })

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

const stateOf = (endpoints: number, connected: number): Static<typeof Room>['state'] =>
  endpoints === 0 ? 'EMPTY' : connected === 0 ? 'OFFLINE' : connected < endpoints ? 'DEGRADED' : 'HEALTHY'

async function view(by: By, on: Reader, room: RoomRow): Promise<Versioned<Static<typeof Room>>> {
  const endpoints = await listEndpointsInRoom(on, by.org.key, room.id)
  const { secrets, clock } = by.ground
  return new Versioned(room.version, {
    id: room.id,
    name: room.name,
    state: stateOf(endpoints.length, endpoints.filter((e) => e.connected === 1).length),
    ...(room.location_id !== null && {
      location: {
        id: room.location_id,
        name: room.location_name ?? '',
        ...(room.region_id !== null && { region: { id: room.region_id, name: room.region_name ?? '' } }),
      },
    }),
    endpoints: endpoints.map((e) => endpointView(e, room.name)),
    ...(room.profile_id !== null && { profileId: room.profile_id }),
    ...(by.may('write') && decFields(secrets, sealContext(by.org.id, room.id), room, clock.now())),
  })
}
