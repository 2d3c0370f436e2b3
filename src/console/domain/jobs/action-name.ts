// Puts the actions of jobs into words with the names of the profiles and rooms that they mention.
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { operationQuery } from '../../api.ts'
import { plural } from '../../parts/text/words.ts'
import type { PlannedAction } from './job.ts'
import { actionText } from './job-texts.ts'

/** The names of profiles and rooms are read only if an action mentions one. */
export function useActionText(actions: readonly PlannedAction[]): (action: PlannedAction) => string {
  const hasProfile = actions.some(({ type, profileId }) => type === 'ASSIGN_PROFILE' && profileId !== null)
  const hasRoom = actions.some(({ type }) => type === 'MOVE')
  const profiles = useQuery({ ...operationQuery('profilesList'), enabled: hasProfile }).data?.body.profiles
  const rooms = useQuery({ ...operationQuery('roomsList'), enabled: hasRoom }).data?.body.rooms
  return useCallback(
    (action) =>
      actionText(action, {
        profileName: profiles?.find(({ id }) => id === action.profileId)?.name,
        roomName: roomLabel(rooms?.find(({ id }) => id === action.roomId)),
      }),
    [profiles, rooms],
  )
}

/** Returns "Move 38 devices to Fjord (Atlanta)" for a number of devices. */
export function useMoveText({ type, roomId }: PlannedAction): (count: number) => string {
  const rooms = useQuery({ ...operationQuery('roomsList'), enabled: type === 'MOVE' }).data?.body.rooms
  const room = roomLabel(rooms?.find(({ id }) => id === roomId)) ?? `room #${roomId}`
  return (count) => `Move ${plural(count, 'device')} to ${room}`
}

/** Names of rooms repeat, so the location follows. */
const roomLabel = (room: { readonly name: string; readonly location?: { readonly name: string } } | undefined) =>
  room?.location ? `${room.name} (${room.location.name})` : room?.name
