// Reads what the page of a place shows above its tables, so that these parts appear together and none moves another one down.
import { useQueries } from '@tanstack/react-query'
import { incidentsQuery } from '../../domain/incidents/incident-list.ts'
import { silencesQuery } from '../../domain/incidents/silence/silence.ts'
import type { WeekPlace } from './last-week.tsx'

/** Whether both answers have arrived or failed; nothing is read about a place that does not exist. Each part of the page shows its own error. */
export function useArePlaceReadsDone(place: WeekPlace, isKnown: boolean): boolean {
  const queries = [incidentsQuery({ state: 'open', ...place }), silencesQuery()]
  return useQueries({ queries: queries.map((query) => ({ ...query, enabled: isKnown })) as typeof queries }).every(
    ({ isPending, fetchStatus, failureCount }) => !isPending || fetchStatus === 'paused' || failureCount > 0,
  )
}
