// Reads what the page of a room shows first, so that its parts appear together and none moves another one down.
import { useQueries } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { incidentsQuery } from '../../domain/incidents/incident-list.ts'
import { silencesQuery } from '../../domain/incidents/silence/silence.ts'
import { areAnswered } from '../../parts/page/first-answers.ts'
import { sampleQuery } from './sample-query.ts'

export function useAroundRoom(id: number): boolean {
  const answers = useQueries({
    queries: [
      incidentsQuery({ state: 'open', roomId: id }),
      silencesQuery(),
      operationQuery('jobsList', { roomId: id, state: 'open' }),
      operationQuery('operationsList'),
      sampleQuery(id),
      operationQuery('profilesList'),
      operationQuery('roomNotesList', { roomId: id }),
    ],
  })
  return areAnswered(answers)
}
