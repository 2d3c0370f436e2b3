// The incidents of one device, room, location or region: those that are open, and those of the last 30 days. [contract 10.states]
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { useNow } from '../../parts/text/now.ts'
import { compareWorstFirst, isSnoozed, type ListedIncident } from './incident.ts'
import { incidentsQuery } from './incident-list.ts'

export type IncidentsOf =
  | { readonly endpointId: string }
  | { readonly roomId: number }
  | { readonly locationId: number }
  | { readonly regionId: number }

/** Returns the worst first; undefined while they are loading. */
export function useOpenIncidentsOf(of: IncidentsOf): readonly ListedIncident[] | undefined {
  const { data } = useQuery(incidentsQuery({ state: 'open', ...of }))
  return useMemo(() => data?.toSorted(compareWorstFirst), [data])
}

/** Returns the worst incident that is not snoozed. */
export function useWorstIncidentOf(of: IncidentsOf): ListedIncident | undefined {
  const now = useNow(60_000)
  return useOpenIncidentsOf(of)?.find((incident) => !isSnoozed(incident, now))
}

export const pastDays = 30
/** Returns the incidents that have ended, the newest first; undefined while they are loading. */
export function usePastIncidentsOf(of: IncidentsOf): readonly ListedIncident[] | undefined {
  // The hour moves in steps, so the key of the query seldom changes.
  const hour = Math.floor(useNow(hourMs) / hourMs) * hourMs
  const resolvedFrom = hour - pastDays * dayMs
  const { data } = useQuery({
    ...incidentsQuery({ state: 'all', ...of, resolvedFrom }),
    placeholderData: (last) => last,
  })
  return useMemo(() => data?.toSorted((a, b) => (a.openedAt < b.openedAt ? 1 : -1)), [data])
}
