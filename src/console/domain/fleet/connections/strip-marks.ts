// The marks of a strip (restarts, changes of settings, notes), and the times of restarts for its parts.
import { useQueries, useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../../api.ts'
import { plural } from '../../../parts/text/words.ts'
import type { DeviceDetails } from '../device/device.ts'
import { isRestart, type RestartWindow, restartWindowsIn } from '../device/restarts.ts'

export interface StripMark {
  readonly kind: 'restart' | 'settings' | 'note'
  readonly atMs: number
  readonly text: string
}

interface StripHistory {
  readonly marks: readonly StripMark[]
  readonly restarts: readonly RestartWindow[]
}

interface StripSubject {
  readonly roomId: number | undefined
  readonly endpoints: readonly DeviceDetails[]
}

/** The marks and restarts of each device, by its id; notes are about the room and are on every strip of it. */
export function useStripHistory(
  { roomId, endpoints }: StripSubject,
  fromMs: number,
): ReadonlyMap<string, StripHistory> {
  const ofRoom = useQuery({
    ...operationQuery('roomNotesList', { roomId: roomId ?? 0 }),
    enabled: roomId !== undefined,
  })
  const notes = ofRoom.data?.body.notes ?? []
  const operations = useQueries({
    queries: endpoints.map((endpoint) => operationQuery('endpointsOperationsList', { id: endpoint.id })),
  })
  const versions = useQueries({
    queries: endpoints.map((endpoint) => operationQuery('configVersionsList', { id: endpoint.id })),
  })
  const noteMarks = notes.map(
    ({ note, author, createdAt }): StripMark => ({
      kind: 'note',
      atMs: Date.parse(createdAt),
      text: `Note by ${author}: ${note}`,
    }),
  )
  return new Map(
    endpoints.map((endpoint, index) => {
      const commands = operations[index]?.data?.body.operations ?? []
      const changes = versions[index]?.data?.body.versions ?? []
      const marks: StripMark[] = [
        ...noteMarks,
        ...commands
          .filter(isRestart)
          .map(({ createdAt }): StripMark => ({ kind: 'restart', atMs: Date.parse(createdAt), text: 'Restart' })),
        ...changes.map(
          ({ createdAt, diff }): StripMark => ({
            kind: 'settings',
            atMs: Date.parse(createdAt),
            text: plural(Object.keys(diff).length, 'setting changed', 'settings changed'),
          }),
        ),
      ]
      const shown = marks.filter(({ atMs }) => atMs >= fromMs).sort((a, b) => a.atMs - b.atMs)
      return [endpoint.id, { marks: shown, restarts: restartWindowsIn(commands) }]
    }),
  )
}
