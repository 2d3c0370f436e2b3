// Where rooms are: the regions and locations of the organisation, and which location is in which region.
import { useSuspenseQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { ask } from '../../api.ts'
import { inOrder, orderKey } from '../../parts/text/search-text.ts'

export type Location = ResponseOf<Operations['locationsList']>['locations'][number]
export type Region = ResponseOf<Operations['regionsList']>['regions'][number]

export interface Places {
  readonly regions: readonly Region[]
  readonly locations: readonly Location[]
  readonly locationById: ReadonlyMap<number, Location>
}

/** Both lists by name. */
export function usePlaces(): Places {
  const [regionsAsked, locationsAsked] = useSuspenseQueries({ queries: [ask('regionsList'), ask('locationsList')] })
  const { regions } = regionsAsked.data.body
  const { locations } = locationsAsked.data.body
  return useMemo(
    () => ({
      regions: byName(regions),
      locations: byName(locations),
      locationById: new Map(locations.map((location) => [location.id, location])),
    }),
    [regions, locations],
  )
}

/** Folded once each, not once for each comparison. */
const byName = <T extends { readonly name: string }>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, key: orderKey(item.name) }))
    .sort((a, b) => inOrder(a.key, b.key))
    .map(({ item }) => item)

/** Names repeat: the region tells two locations apart. */
export const locationLabel = ({ name, region }: Location): string => (region ? `${name} (${region.name})` : name)
