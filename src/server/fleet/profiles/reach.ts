// Answers which rooms and endpoints have a profile, and how many of them rejected a setting. [contract 12.profiles]
import type { ConfigState } from '../../../contract/fleet/configs.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { deviceKeys } from '../configs/device-keys.ts'
import { keysOf } from '../configs/sealed-config.ts'
import { countConfigKeys, countConfigStates, listEndpointsReached, listRoomsReached } from './reach-store.ts'
import { requireProfile } from './rules.ts'

const maxListedRooms = 1000

export async function profilesReach(ctx: RequestContext, id: number) {
  const keys = keysOf(await requireProfile(ctx.db, id))
  const missingIn = (configKeys: string | null) => keys.filter((name) => !deviceKeys(configKeys)(name))
  const states = new Map((await countConfigStates(ctx.db, { profile: id })).map(({ state, count }) => [state, count]))
  const lists = await countConfigKeys(ctx.db, { profile: id })
  const rooms = await listRoomsReached(ctx.db, { profile: id, limit: maxListedRooms })
  const endpoints = await listEndpointsReached(ctx.db, { profile: id, rooms: rooms.map((room) => room.id) })
  const endpointsByRoom = Map.groupBy(endpoints, (endpoint) => endpoint.room_id)
  return {
    roomCount: rooms[0]?.total ?? 0,
    endpointCount: [...states.values()].reduce((sum, count) => sum + count, 0),
    deliveredCount: states.get('DELIVERED') ?? 0,
    pendingCount: states.get('PENDING') ?? 0,
    rejectedCount: states.get('FAILED') ?? 0,
    notForDeviceCount: lists.reduce((sum, list) => sum + (missingIn(list.config_keys).length > 0 ? list.count : 0), 0),
    rooms: rooms.map((room) => ({
      id: room.id,
      name: room.name,
      assigned: room.profile_id === id,
      endpoints: (endpointsByRoom.get(room.id) ?? []).map(({ id, name, model, serial, state, error, config_keys }) => {
        const notForDevice = missingIn(config_keys)
        return {
          id,
          ...(name !== null && { name }),
          model,
          serial,
          state: state as Exclude<ConfigState, 'SUPERSEDED'>,
          ...(notForDevice.length > 0 && { notForDevice }),
          ...(error !== null && { error }),
        }
      }),
    })),
  }
}
