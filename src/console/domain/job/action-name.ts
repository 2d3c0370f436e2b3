// Puts the actions of jobs into words with the names of the profiles and rooms that they mention.
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { operationQuery } from '../../api.ts'
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
        roomName: rooms?.find(({ id }) => id === action.roomId)?.name,
      }),
    [profiles, rooms],
  )
}
