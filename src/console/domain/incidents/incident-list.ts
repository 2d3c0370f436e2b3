// Reads lists of incidents whole, page by page: the open ones, and those of the last 7 days. [contract 10.states]
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { CallInput } from '../../../client/client.ts'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { queryKeyOf } from '../../api.ts'
import { useNow } from '../../parts/text/now.ts'
import { client } from '../../session.ts'
import { isSnoozed, type ListedIncident } from './incident.ts'
import { countByCause, type WeekCounts } from './week-count.ts'

type IncidentFilter = CallInput<'incidentsList'>

const pageSizeRows = 1000
/** More incidents than this are never worked through in a list; filters find the others. */
const maxPages = 10

/** The key begins with the operation, so that an event invalidates the query. */
export const incidentsQuery = (filter: IncidentFilter) =>
  queryOptions({
    queryKey: [...queryKeyOf('incidentsList', filter), 'all pages'],
    queryFn: async ({ signal }) => {
      const incidents: ListedIncident[] = []
      let pageToken = ''
      for (let page = 0; page < maxPages; page++) {
        const input = { ...filter, pageSize: pageSizeRows, ...(pageToken && { pageToken }) }
        const { body } = await client().incidentsList(input, { signal })
        incidents.push(...body.incidents)
        pageToken = body.nextPageToken
        if (pageToken === '') break
      }
      return incidents
    },
  })

export const openIncidentsQuery = incidentsQuery({ state: 'open' })

/** How many incidents need work; undefined while they are loading. */
export function useOpenIncidentCount(): number | undefined {
  const now = useNow(60_000)
  return useQuery(openIncidentsQuery).data?.filter((incident) => !isSnoozed(incident, now)).length
}

/** How often each cause occurred in the last 7 days; undefined while this is loading. */
export function useWeekCounts(): WeekCounts | undefined {
  const now = useNow(hourMs)
  // The beginning moves in steps of an hour, so that the key of the query seldom changes.
  const from = Math.floor((now - 7 * dayMs) / hourMs) * hourMs
  const { data } = useQuery({ ...incidentsQuery({ state: 'all', from }), placeholderData: (previous) => previous })
  return useMemo(() => data && countByCause(data, from), [data, from])
}
