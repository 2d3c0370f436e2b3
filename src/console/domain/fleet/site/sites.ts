// The regions and locations of the organisation.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'

export type ListedLocation = ResponseOf<Operations['locationsList']>['locations'][number]
export type ListedRegion = ResponseOf<Operations['regionsList']>['regions'][number]

/** Filter value in place of an id: without a region, or without a location. */
export const unassigned = 'none'

export interface Sites {
  readonly regions: readonly ListedRegion[]
  readonly locations: readonly ListedLocation[]
  readonly locationById: ReadonlyMap<number, ListedLocation>
}

/** Reads both lists, sorted by name. */
export function useSites(): Sites {
  const [regionsQuery, locationsQuery] = useSuspenseQueries({
    queries: [operationQuery('regionsList'), operationQuery('locationsList')],
  })
  const { regions } = regionsQuery.data.body
  const { locations } = locationsQuery.data.body
  return useMemo(
    () => ({
      regions: byName(regions),
      locations: byName(locations),
      locationById: new Map(locations.map((location) => [location.id, location])),
    }),
    [regions, locations],
  )
}

/** Computes each sort key once, not once for each comparison. */
const byName = <T extends { readonly name: string }>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, key: naturalSortKey(item.name) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ item }) => item)

/** Names of locations repeat, so the label includes the region. */
export const locationLabel = ({ name, region }: ListedLocation): string => (region ? `${name} (${region.name})` : name)
