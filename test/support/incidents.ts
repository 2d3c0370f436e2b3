// Incidents for tests that are not about how incidents open: their rows are written as the engine would write them.
import type { CauseLevel, TimelineKind } from '../../src/contract/incidents/incidents.ts'
import { incidentRules, type RuleId, type Severity, type SubjectType } from '../../src/contract/incidents/rule-table.ts'
import type { IncidentState } from '../../src/contract/incidents/states.ts'
import type { Harness, TestOrg } from './harness.ts'

export interface NewIncident {
  /**
   * By default `storage.low`. The engine knows nothing of the storage of a device that has reported no status, so it leaves such an incident as
   * it is. Other incidents may be ended by the engine within a second, unless their cause is real.
   */
  readonly rule?: RuleId
  readonly severity?: Severity
  readonly state?: IncidentState
  /** By default the first subject. */
  readonly level?: CauseLevel
  readonly causeId?: string
  readonly causeName?: string
  readonly detail?: object
  /** Endpoints that are subjects, in the rooms where they are now. */
  readonly endpoints?: readonly string[]
  /** Rooms that are subjects. */
  readonly rooms?: readonly number[]
  /** The subjects whose problem has ended. */
  readonly endedSubjects?: readonly (string | number)[]
  /** Milliseconds; by default ten minutes ago. */
  readonly since?: number
  /** Milliseconds; by default five minutes after `since`. */
  readonly openedAt?: number
  readonly resolvedAt?: number
  readonly occurrences?: number
  readonly flapping?: boolean
  readonly acknowledgedBy?: { type: 'KEY' | 'USER'; id: string; name: string }
  readonly assigneeId?: number
  readonly snoozedUntil?: number | 'cleared'
  readonly mergedInto?: string
  readonly splitFrom?: string
  /** Entries after the first, which says that it opened. */
  readonly timeline?: readonly { at: number; kind: TimelineKind; text?: string }[]
}

interface SubjectOfTest {
  readonly subject_type: SubjectType
  readonly subject_id: string
  readonly name: string
  readonly room_id: number | null
  readonly room_name: string | null
  readonly location_id: number | null
  readonly region_id: number | null
}

/** Inserts an incident with its subjects, findings and timeline, and returns its id. Without subjects it is about the organisation. */
export async function newIncident(harness: Harness, org: TestOrg, incident: NewIncident = {}): Promise<string> {
  const { clock, db } = harness.services
  const since = incident.since ?? clock.now() - 600_000
  const openedAt = incident.openedAt ?? since + 300_000
  const state = incident.state ?? 'OPEN'
  const isEnded = state === 'RESOLVED' || state === 'MERGED'
  const resolvedAt = incident.resolvedAt ?? (state === 'RESOLVED' ? clock.now() : null)
  const rule = incident.rule ?? 'storage.low'
  const subjects = await subjectsOf(org, incident)
  const [first] = subjects as [SubjectOfTest]
  const key = org.org.key
  return db.systemTransaction(async ({ kysely }) => {
    const { last: id } = await kysely
      .insertInto('counters')
      .values({ org: key, noun: 'incident', last: 1 })
      .onConflict((c) => c.columns(['org', 'noun']).doUpdateSet((e) => ({ last: e('counters.last', '+', 1) })))
      .returning('last')
      .executeTakeFirstOrThrow()
    const times = [openedAt, resolvedAt ?? 0, ...(incident.timeline ?? []).map(({ at }) => at)]
    await kysely
      .insertInto('incidents')
      .values({
        org: key,
        id,
        version: 1,
        rule,
        severity: incident.severity ?? incidentRules[rule].severity,
        state,
        level: incident.level ?? (first.subject_type.toUpperCase() as CauseLevel),
        cause_id: incident.causeId ?? first.subject_id,
        cause_name: incident.causeName ?? first.name,
        detail: JSON.stringify(incident.detail ?? {}),
        since,
        opened_at: openedAt,
        updated_at: Math.max(...times),
        resolved_at: resolvedAt,
        cause_ended_at: isEnded ? (resolvedAt ?? clock.now()) : null,
        occurrences: incident.occurrences ?? 1,
        flapping: incident.flapping ? 1 : 0,
        // Otherwise the engine would end the flapping.
        ...(incident.flapping && { reopenings: JSON.stringify([clock.now()]) }),
        acknowledged_by: incident.acknowledgedBy ? JSON.stringify(incident.acknowledgedBy) : null,
        assignee_id: incident.assigneeId ?? null,
        snoozed_until: typeof incident.snoozedUntil === 'number' ? incident.snoozedUntil : null,
        snoozed_until_cleared: incident.snoozedUntil === 'cleared' ? 1 : 0,
        merged_into: incident.mergedInto === undefined ? null : Number(incident.mergedInto),
        split_from: incident.splitFrom === undefined ? null : Number(incident.splitFrom),
      })
      .execute()
    const hasEnded = ({ subject_id }: SubjectOfTest) =>
      isEnded || incident.endedSubjects?.map(String).includes(subject_id) === true
    await kysely
      .insertInto('incident_subjects')
      .values(
        subjects.map((subject) => ({
          ...subject,
          org: key,
          incident_id: id,
          since,
          ended_at: hasEnded(subject) ? (resolvedAt ?? clock.now()) : null,
        })),
      )
      .execute()
    for (const { subject_type, subject_id } of subjects.filter((subject) => !hasEnded(subject))) {
      await kysely
        .insertInto('findings')
        .values({
          org: key,
          rule,
          subject_type,
          subject_id,
          since,
          matured_at: openedAt,
          clear_since: null,
          incident_id: id,
          // The engine gives an incident the worst severity of its findings.
          detail: JSON.stringify(incident.severity ? { severity: incident.severity } : {}),
        })
        .onConflict((c) => c.doNothing())
        .execute()
    }
    const entries = [{ at: openedAt, kind: 'OPENED' as const }, ...(incident.timeline ?? [])]
    await kysely
      .insertInto('incident_timeline')
      .values(entries.map((entry, i) => ({ ...entry, org: key, incident_id: id, number: i + 1 })))
      .execute()
    return String(id)
  })
}

async function subjectsOf(org: TestOrg, incident: NewIncident): Promise<SubjectOfTest[]> {
  const { endpoints: ids = [], rooms = [] } = incident
  const listed = ids.length > 0 ? (await org.call('GET', '/endpoints')).body.endpoints : []
  const endpoints: ListedEndpoint[] = listed.filter(({ id }: ListedEndpoint) => ids.includes(id))
  const places = new Map<number, PlaceOfTest>()
  for (const id of new Set([...rooms, ...endpoints.map(({ roomId }) => roomId ?? 0)])) {
    places.set(id, await placeOf(org, id))
  }
  const placeAt = (id: number | undefined) => places.get(id ?? 0) ?? nowhere
  const subjects: SubjectOfTest[] = [
    ...ids
      .flatMap((id) => endpoints.filter((endpoint) => endpoint.id === id))
      .map(({ id, model, serial, roomId }) => ({
        subject_type: 'endpoint' as const,
        subject_id: id,
        name: `${model} ${serial}`,
        ...placeAt(roomId),
      })),
    ...rooms.map((id) => ({
      subject_type: 'room' as const,
      subject_id: String(id),
      name: placeAt(id).room_name ?? '',
      ...placeAt(id),
    })),
  ]
  if (subjects.length !== ids.length + rooms.length) throw new Error('an endpoint of the incident does not exist')
  if (subjects.length > 0) return subjects
  return [{ subject_type: 'organisation', subject_id: org.id, name: 'Test organisation', ...nowhere }]
}

interface ListedEndpoint {
  readonly id: string
  readonly serial: string
  readonly model: string
  readonly roomId?: number
}
type PlaceOfTest = Pick<SubjectOfTest, 'room_id' | 'room_name' | 'location_id' | 'region_id'>
const nowhere: PlaceOfTest = { room_id: null, room_name: null, location_id: null, region_id: null }

async function placeOf(org: TestOrg, roomId: number): Promise<PlaceOfTest> {
  if (roomId === 0) return nowhere
  const { name, location } = (await org.call('GET', `/rooms/${roomId}`)).body
  return {
    room_id: roomId,
    room_name: name,
    location_id: location?.id ?? null,
    region_id: location?.region?.id ?? null,
  }
}
