// Answers which rooms and endpoints have a profile, and how many of them rejected a setting. [contract 12.profiles]
import type { ConfigState } from '../../../contract/fleet/configs.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { countConfigStates, listEndpointsReached, listRoomsReached } from './reach-store.ts'
import { requireProfile } from './rules.ts'

const maxListedRooms = 1000

export async function profilesReach(ctx: RequestContext, id: number) {
  await requireProfile(ctx.db, id)
  const states = new Map((await countConfigStates(ctx.db, { profile: id })).map(({ state, count }) => [state, count]))
  const rooms = await listRoomsReached(ctx.db, { profile: id, limit: maxListedRooms })
  const endpoints = await listEndpointsReached(ctx.db, { profile: id, rooms: rooms.map((room) => room.id) })
  const endpointsByRoom = Map.groupBy(endpoints, (endpoint) => endpoint.room_id)
  return {
    roomCount: rooms[0]?.total ?? 0,
    endpointCount: [...states.values()].reduce((sum, count) => sum + count, 0),
    deliveredCount: states.get('DELIVERED') ?? 0,
    pendingCount: states.get('PENDING') ?? 0,
    rejectedCount: states.get('FAILED') ?? 0,
    rooms: rooms.map((room) => ({
      id: room.id,
      name: room.name,
      assigned: room.profile_id === id,
      endpoints: (endpointsByRoom.get(room.id) ?? []).map(({ id, name, model, serial, state, error }) => ({
        id,
        ...(name !== null && { name }),
        model,
        serial,
        state: state as Exclude<ConfigState, 'SUPERSEDED'>,
        ...(error !== null && { error }),
      })),
    })),
  }
}
