// Says whether silences cover everything that an incident is about, so that nothing is sent about it. [contract 10.silence]
import type { RuleId } from '../../contract/incidents/rule-table.ts'
import type { OrgReader } from '../db/handles.ts'
import { findOwnOrg } from '../journal/orgs/store.ts'
import { isSilenced, readSilences, type Silence } from './silences/in-force.ts'
import { listZonesOfLocations } from './silences/store.ts'
import { type IncidentRow, listSubjects, type SubjectRow } from './store.ts'

/** `subjects` are those that are still affected. */
export async function areAllSilenced(
  on: OrgReader,
  rule: RuleId,
  subjects: readonly SubjectRow[],
  now: number,
): Promise<boolean> {
  const silences = await readSilences(on, now)
  if (silences.length === 0) return false
  return (await readSubjectCheck(on, silences, subjects))(rule, subjects, now)
}

/** Whether all affected subjects of an incident are silenced at a time. If none is affected any more, all of its subjects count. */
type SilencedAt = (incident: number, at: number) => boolean

/** `from` is the earliest time that will be asked about. */
export async function readSilencedIncidents(
  on: OrgReader,
  incidents: readonly Pick<IncidentRow, 'id' | 'rule'>[],
  from: number,
): Promise<SilencedAt> {
  const silences = incidents.length > 0 ? await readSilences(on, from) : []
  if (silences.length === 0) return () => false
  const subjects = await listSubjects(on, { incidents: incidents.map(({ id }) => id) })
  const areSilenced = await readSubjectCheck(on, silences, subjects)
  const ruleOf = new Map(incidents.map(({ id, rule }) => [id, rule]))
  const subjectsOf = Map.groupBy(subjects, ({ incident_id }) => incident_id)
  return (incident, at) => {
    const rule = ruleOf.get(incident)
    const all = subjectsOf.get(incident) ?? []
    const open = all.filter(({ ended_at }) => ended_at === null)
    return rule !== undefined && areSilenced(rule, open.length > 0 ? open : all, at)
  }
}

async function readSubjectCheck(on: OrgReader, silences: readonly Silence[], subjects: readonly SubjectRow[]) {
  const locations = [...new Set(subjects.map((subject) => subject.location_id))].filter((id) => id !== null)
  const zones = new Map((await listZonesOfLocations(on, { ids: locations })).map(({ id, timezone }) => [id, timezone]))
  const ownZone = (await findOwnOrg(on))?.timezone ?? 'UTC'
  const placeOf = (subject: SubjectRow) => ({
    endpointId: subject.subject_type === 'endpoint' ? subject.subject_id : undefined,
    roomId: subject.room_id,
    locationId: subject.location_id,
    regionId: subject.region_id,
    timezone: (subject.location_id !== null && zones.get(subject.location_id)) || ownZone,
  })
  return (rule: RuleId, some: readonly SubjectRow[], at: number): boolean =>
    some.length > 0 && some.every((subject) => isSilenced(silences, placeOf(subject), rule, at))
}
