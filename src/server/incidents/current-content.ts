// The content of messages about incidents as they are now, for the first attempt to send one. [contract 10.delivery]
import type { OrgReader } from '../db/handles.ts'
import { incidentMessage } from './incident-message.ts'
import { type IncidentRow, listSubjects } from './store.ts'
import { readMessageContext } from './view-context.ts'

export interface CurrentIncident {
  readonly row: IncidentRow
  /** How many subjects are affected. */
  readonly size: number
  /** Reads the names of its places and people, and returns what a message says about it. */
  readContent(): Promise<Readonly<Record<string, unknown>>>
}

export async function readCurrentIncidents(
  on: OrgReader,
  incidents: readonly IncidentRow[],
  now: number,
): Promise<ReadonlyMap<number, CurrentIncident>> {
  const current = new Map<number, CurrentIncident>()
  if (incidents.length === 0) return current
  const subjectsOf = Map.groupBy(
    await listSubjects(on, { incidents: incidents.map(({ id }) => id) }),
    ({ incident_id }) => incident_id,
  )
  for (const row of incidents) {
    const subjects = subjectsOf.get(row.id) ?? []
    current.set(row.id, {
      row,
      size: subjects.filter(({ ended_at }) => ended_at === null).length,
      readContent: async () =>
        incidentMessage('incident.opened', row, subjects, await readMessageContext(on, row, subjects, now)).data,
    })
  }
  return current
}
