// The tags of rooms as the choices of a filter, and the rooms that have a tag.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { compareText } from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'
import type { FilterChoice } from '../../../parts/table/filter-choices.ts'

/** A chosen tag is among the choices, even if no room has it. */
export function useTagChoices(chosen: string | undefined): readonly FilterChoice[] {
  const rooms = useQuery(operationQuery('roomsList')).data?.body.rooms
  return useMemo(
    () =>
      [...new Set([...(rooms ?? []).flatMap(({ tags }) => tags ?? []), ...(chosen ? [chosen] : [])])]
        .sort(compareText)
        .map((tag) => ({ value: tag, label: tag })),
    [rooms, chosen],
  )
}

/** The ids of the rooms that have the tag; none until they are read, and undefined without a tag. */
export function useRoomsWithTag(tag: string | undefined): ReadonlySet<number> | undefined {
  const rooms = useQuery({ ...operationQuery('roomsList'), enabled: tag !== undefined }).data?.body.rooms
  return useMemo(
    () =>
      tag === undefined
        ? undefined
        : new Set((rooms ?? []).filter(({ tags }) => tags?.includes(tag)).map(({ id }) => id)),
    [rooms, tag],
  )
}
