// Endpoints: one function for each operation of the API. [contract 4.endpointsBasicList] [contract 5.1]

import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { allFound, Failure, found, referred } from '../../core/failure.ts'
import type { Reader } from '../../db/db.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change, ref } from '../audit/change.ts'
import { cancelOpenOperations } from '../commands/store.ts'
import { operationDraft, operationView } from '../commands/view.ts'
import { makeVersions } from '../configs/make-versions.ts'
import { findProfile } from '../profiles/store.ts'
import { findRoom, touchRooms } from '../rooms/store.ts'
import type { KeptEndpoints } from './endpoint-cache.ts'
import {
  deleteEndpoint,
  findEndpoint,
  listEndpoints,
  listEndpointsById,
  listPairedEndpoints,
  type PlacedEndpoint,
  updateProfileOf,
  updateRoomOf,
} from './store.ts'
import { basicEndpointView, endpointRef } from './view.ts'

type Filter = InputOf<'endpointsBasicList'>['query']

export const endpointsBasicList = (by: By, kept: KeptEndpoints, filter: Filter) =>
  filter.regionId === undefined && filter.locationId === undefined
    ? kept.list(by.org.key)
    : listPart(by, filter.regionId, filter.locationId)

async function listPart(by: By, regionId: number | undefined, locationId: number | undefined) {
  const rows = await listEndpoints(by.ground.db, by.org.key, regionId, locationId)
  return { endpoints: rows.map(basicEndpointView) }
}

export const endpointsGet = (by: By, kept: KeptEndpoints, id: string) => kept.one(by.org.key, id)

export async function endpointsDelete(by: By, id: string) {
  await change(by, 'endpointsDelete', async (tx) => {
    const endpoint = await existing(tx, by, id)
    checkIfMatch(by, endpoint.version)
    await deleteEndpoint(tx, by.org.key, id, by.ground.clock.now())
    const cancelled = await cancelOpenOperations(tx, by.org.key, [id], by.ground.clock.now())
    tx.announced.push(...cancelled.map((row) => operationDraft(operationView(row), roomsOf([endpoint]))))
    await touchRooms(tx, by.org.key, roomsOf([endpoint]))
    return {
      result: {},
      target: endpointRef(endpoint),
      before: { serial: endpoint.serial, model: endpoint.model, roomId: endpoint.room_id },
    }
  })
  by.ground.devices.cut([id])
  return {}
}

/** All of them move or none, with everything that is paired with them. [contract 4.endpointsMoveRoom] */
export async function endpointsMoveRoom(by: By, body: InputOf<'endpointsMoveRoom'>['body']) {
  const { roomId, assignRoomProfile = false } = body
  const { moved, changed } = await change(by, 'endpointsMoveRoom', async (tx) => {
    const wanted = [...new Set(body.endpointIds)]
    allFound('endpointIds', 'endpoint', wanted, await listEndpointsById(tx, by.org.key, wanted))
    const room = await findRoom(tx, by.org.key, roomId)
    if (!room) {
      throw new Failure('FAILED_PRECONDITION', `there is no room ${roomId}. Create it first, or name another.`)
    }

    const group = await listPairedEndpoints(tx, by.org.key, wanted)
    const ids = group.map((e) => e.id)
    await updateRoomOf(tx, by.org.key, ids, roomId, by.ground.clock.now())
    await touchRooms(tx, by.org.key, [...roomsOf(group), roomId])
    const others = assignRoomProfile ? group.filter((e) => e.profile_id !== room.profile_id).map((e) => e.id) : []
    if (others.length > 0) {
      await updateProfileOf(tx, by.org.key, others, room.profile_id)
      await makeVersions(tx, by, others)
    }
    return {
      result: { moved: ids, changed: others },
      target: ref('room', room),
      before: {
        roomIds: Object.fromEntries(group.map((e) => [e.id, e.room_id])),
        ...(assignRoomProfile && { profileIds: Object.fromEntries(group.map((e) => [e.id, e.profile_id])) }),
      },
      after: { roomId, ...(assignRoomProfile && { profileId: room.profile_id }) },
      affected: group.map(endpointRef),
    }
  })
  by.ground.devices.wake(changed)
  return { endpointIds: moved }
}

export async function endpointsAssignProfile(by: By, id: string, profileId: number | null) {
  await change(by, 'endpointsAssignProfile', async (tx) => {
    const endpoint = await existing(tx, by, id)
    checkIfMatch(by, endpoint.version)
    const profile = await referred('profile', profileId, (known) => findProfile(tx, by.org.key, known))
    const to = profile?.id ?? null
    await updateProfileOf(tx, by.org.key, [id], to)
    await touchRooms(tx, by.org.key, roomsOf([endpoint]))
    if (endpoint.profile_id !== to) await makeVersions(tx, by, [id])
    return {
      result: {},
      target: endpointRef(endpoint),
      before: { profileId: endpoint.profile_id },
      after: { profileId: to },
      undone: profile === undefined,
    }
  })
  by.ground.devices.wake([id])
  return {}
}

const existing = async (on: Reader, by: By, id: string) =>
  found(await findEndpoint(on, by.org.key, id), `endpoint ${id}`)

/** A room shows its endpoints: its version moves with them. [contract D.9] */
const roomsOf = (endpoints: readonly Pick<PlacedEndpoint, 'room_id'>[]): number[] => [
  ...new Set(endpoints.flatMap((e) => (e.room_id === null ? [] : [e.room_id]))),
]
