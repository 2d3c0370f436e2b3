// Decides the state of a room from its endpoints. [contract 5.4.room]
import type { Static } from 'typebox'
import type { Room } from '../../../contract/rooms.ts'

export type RoomStateName = Static<typeof Room>['state']

export function roomStateOf(endpoints: number, connected: number, hasFailed: boolean): RoomStateName {
  if (endpoints === 0) return 'EMPTY'
  if (connected === 0) return 'OFFLINE'
  return connected < endpoints || hasFailed ? 'DEGRADED' : 'HEALTHY'
}
