// Reads what the page of a place shows above its tables, so that these parts appear together and none moves another one down.
import { useQueries } from '@tanstack/react-query'
import { incidentsQuery } from '../../domain/incidents/incident-list.ts'
import { silencesQuery } from '../../domain/incidents/silence/silence.ts'
import { areAnswered } from '../../parts/page/first-answers.ts'
import type { WeekPlace } from './last-week.tsx'

/** Nothing is read about a place that does not exist. */
export function useArePlaceReadsDone(place: WeekPlace, isKnown: boolean): boolean {
  const queries = [incidentsQuery({ state: 'open', ...place }), silencesQuery()]
  return areAnswered(
    useQueries({ queries: queries.map((query) => ({ ...query, enabled: isKnown })) as typeof queries }),
  )
}
