// Says whether silences cover everything that an incident is about, so that only its end is sent. [contract 10.silence]
import type { RuleId } from '../../../contract/incidents/rule-table.ts'
import type { OrgReader } from '../../db/handles.ts'
import { findOwnOrg } from '../orgs/store.ts'
import { isSilenced, readSilences } from '../silences/in-force.ts'
import { listZonesOfLocations } from '../silences/store.ts'
import type { SubjectRow } from './store.ts'

/** `subjects` are those that are still affected. */
export async function areAllSilenced(
  on: OrgReader,
  rule: RuleId,
  subjects: readonly SubjectRow[],
  now: number,
): Promise<boolean> {
  const silences = await readSilences(on, now)
  if (silences.length === 0 || subjects.length === 0) return false
  const locations = [...new Set(subjects.map((subject) => subject.location_id))].filter((id) => id !== null)
  const zones = new Map((await listZonesOfLocations(on, { ids: locations })).map(({ id, timezone }) => [id, timezone]))
  const ownZone = (await findOwnOrg(on))?.timezone ?? 'UTC'
  return subjects.every((subject) => {
    const place = {
      endpointId: subject.subject_type === 'endpoint' ? subject.subject_id : undefined,
      roomId: subject.room_id,
      locationId: subject.location_id,
      regionId: subject.region_id,
      timezone: (subject.location_id !== null && zones.get(subject.location_id)) || ownZone,
    }
    return isSilenced(silences, place, rule, now)
  })
}
