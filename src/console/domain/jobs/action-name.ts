// Puts the actions of jobs into words with the names of the profiles and rooms that they mention.
import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { operationQuery } from '../../api.ts'
import { useRoomNames } from '../fleet/room/room-names.ts'
import { actionForms, actionText } from './action/action-forms.ts'
import type { PlannedAction } from './job.ts'

/** The names of profiles and rooms are read only if an action mentions one. */
function useActionNames(actions: readonly PlannedAction[]) {
  const hasProfile = actions.some(({ profileId }) => profileId !== undefined && profileId !== null)
  const hasRoom = actions.some(({ roomId }) => roomId !== undefined)
  const profiles = useQuery({ ...operationQuery('profilesList'), enabled: hasProfile }).data?.body.profiles
  const roomNameOf = useRoomNames({ enabled: hasRoom })
  return useCallback(
    (action: PlannedAction) => ({
      profileName: profiles?.find(({ id }) => id === action.profileId)?.name,
      roomName: action.roomId === undefined ? undefined : roomNameOf(action.roomId),
    }),
    [profiles, roomNameOf],
  )
}

export function useActionText(actions: readonly PlannedAction[]): (action: PlannedAction) => string {
  const namesOf = useActionNames(actions)
  return useCallback((action) => actionText(action, namesOf(action)), [namesOf])
}

/** Returns " to Fjord (Atlanta)", which follows "38 devices move", or undefined if the action is not about devices. */
export function useDeviceClause(action: PlannedAction): string | undefined {
  const names = useActionNames([action])(action)
  return actionForms[action.type].deviceClause?.(action, names)
}
