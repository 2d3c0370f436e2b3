// The rooms as choices of a field, sorted by name.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { placedRoomName } from '../../../../contract/fleet/room-name.ts'
import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Names of rooms repeat, so a choice includes the location, and the id where that is not enough. */
export function useRoomChoices(exceptId?: number) {
  const { data, error, isPending } = useQuery(operationQuery('roomsList'))
  const rooms = data?.body.rooms
  const choices = useMemo(() => {
    const named = (rooms ?? [])
      .filter(({ id }) => id !== exceptId)
      .map(({ id, name, location }) => ({ id, label: placedRoomName(name, location?.name) }))
    const times = Map.groupBy(named, ({ label }) => label)
    return sortChoices(
      named.map(({ id, label }) => ({
        value: String(id),
        label: times.get(label)?.length === 1 ? label : `${label} #${id}`,
      })),
    )
  }, [rooms, exceptId])
  return { choices, error, isPending }
}

/** Computes each sort key once, not once for each comparison. */
export const sortChoices = (choices: readonly Choice[]): Choice[] =>
  choices
    .map((choice) => ({ choice, key: naturalSortKey(choice.label) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ choice }) => choice)
