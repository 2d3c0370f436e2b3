// Counts the open incidents that affect each room and each endpoint, as the caller sees them.
import { type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { openStates } from '../../../contract/incidents/states.ts'
import { int32 } from '../../../contract/shape.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { listIncidents, listSubjects } from '../../incidents/store.ts'
import { readViewContext } from '../../incidents/view-context.ts'
import { visiblePartOf } from '../../incidents/visible-part.ts'

type Counts = Readonly<Record<Severity, number>>

export interface IncidentCounts {
  readonly ofRoom: (id: number) => Counts
  readonly ofEndpoint: (id: string) => Counts
}

/** An incident can have thousands of subjects. */
const incidentsPerPage = 20

export async function countIncidents(ctx: RequestContext): Promise<IncidentCounts> {
  const rooms = new Map<number, Record<Severity, number>>()
  const endpoints = new Map<string, Record<Severity, number>>()
  for (let before: number = int32.maximum; ; ) {
    const incidents = await listIncidents(ctx.db, { states: openStates }, { before, limit: incidentsPerPage })
    const last = incidents.at(-1)
    if (!last) break
    const subjects = await listSubjects(ctx.db, { incidents: incidents.map(({ id }) => id) })
    const context = ctx.access.isEverything
      ? undefined
      : await readViewContext(ctx, ctx.db, incidents, subjects, { maxNamed: 0 })
    const byIncident = Map.groupBy(subjects, ({ incident_id }) => incident_id)
    for (const incident of incidents) {
      const part = visiblePartOf(incident, byIncident.get(incident.id) ?? [], ctx.access, context)
      const affected = part.subjects.filter(({ ended_at }) => ended_at === null)
      const inRooms = new Set(affected.map(({ room_id }) => room_id).filter((id) => id !== null))
      for (const id of inRooms) count(rooms, id, part.severity)
      for (const { subject_type, subject_id } of affected) {
        if (subject_type === 'endpoint') count(endpoints, subject_id, part.severity)
      }
    }
    before = last.id
  }
  return { ofRoom: (id) => rooms.get(id) ?? none, ofEndpoint: (id) => endpoints.get(id) ?? none }
}

const zeros = (): Record<Severity, number> => Object.fromEntries(severities.map((name) => [name, 0])) as never
const none: Counts = zeros()

function count<K>(counts: Map<K, Record<Severity, number>>, key: K, severity: Severity): void {
  let counted = counts.get(key)
  if (!counted) {
    counted = zeros()
    counts.set(key, counted)
  }
  counted[severity]++
}
