// Reads whether the rooms of groups of reboots are idle and in their change windows. [contract 12.when]
import { isRoomInChangeWindow } from '../../../core/time/change-window.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readRoomUse, type UseTimes } from '../../rooms/use/room-use.ts'
import type { Readiness } from './decide.ts'
import { listRoomsOfGroups } from './deferred-store.ts'

/** A reboot `idle` does not wait for a window. */
export type GroupTime = { readonly groupId: string; readonly time: 'idle' | 'window' }

/** Reads the readiness of groups. A group without rooms is ready. */
export async function readReadiness(
  on: OrgReader,
  groups: readonly GroupTime[],
  times: UseTimes,
): Promise<(group: GroupTime) => Readiness> {
  const { now } = times
  const ids = [...new Set(groups.map(({ groupId }) => groupId))]
  const rooms = Map.groupBy(await listRoomsOfGroups(on, { groups: ids }), (row) => row.group_id)
  const readinessOf = (group: GroupTime, isIdle: (roomId: number) => boolean): Readiness => {
    const own = rooms.get(group.groupId) ?? []
    return {
      isIdle: own.every((room) => isIdle(room.room_id)),
      isInWindow: group.time === 'idle' || own.every((room) => isRoomInChangeWindow(room, now)),
    }
  }
  // The use of a room costs more than its window, so it is read only for groups that are in their windows.
  const inWindow = groups.filter((group) => readinessOf(group, () => true).isInWindow)
  const roomIds = new Set(inWindow.flatMap(({ groupId }) => (rooms.get(groupId) ?? []).map((room) => room.room_id)))
  const uses = await readRoomUse(on, { ...times, roomIds: [...roomIds] })
  return (group) => readinessOf(group, (roomId) => uses.get(roomId)?.isIdle ?? true)
}
