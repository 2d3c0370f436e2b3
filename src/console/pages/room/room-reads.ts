// Reads what the page of a room shows first, so that its parts appear together and none moves another one down.
import { useQueries } from '@tanstack/react-query'
import { operationQuery } from '../../api.ts'
import { incidentsQuery } from '../../domain/incidents/incident-list.ts'
import { silencesQuery } from '../../domain/incidents/silence/silence.ts'
import { sampleQuery } from './sample-query.ts'

/** Whether all answers have arrived or failed. Each part of the page shows its own error. */
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
  return answers.every(
    ({ isPending, fetchStatus, failureCount }) => !isPending || fetchStatus === 'paused' || failureCount > 0,
  )
}
