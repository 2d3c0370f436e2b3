// Writes many incidents that have ended directly into the database, for tests of large reports.
import { dayMs, minuteMs } from '../../../src/contract/durations.ts'
import type { Harness, TestOrg } from '../harness.ts'

const rules = ['device.offline', 'device.flapping', 'sensor.silent', 'storage.low'] as const
/** Each so many incidents one is an outage of many rooms. */
const oneInIncidentsCount = 5000
const subjectsOfOutageCount = 900
/** Statements of SQLite have a limited number of values. */
const rowsPerInsert = 1000

/** Incidents at even distances, each of one device in one of the rooms, and outages of a location. Rooms are in locations of ten. */
export async function putManyIncidents(
  harness: Harness,
  { org: { key: org } }: TestOrg,
  { incidents, rooms, firstDay, days }: Readonly<Record<'incidents' | 'rooms' | 'firstDay' | 'days', number>>,
): Promise<void> {
  const distanceMs = (days * dayMs) / incidents
  const rows = Array.from({ length: incidents }, (_, i) => {
    const opened_at = firstDay * dayMs + Math.floor(i * distanceMs)
    const resolved_at = opened_at + (1 + ((i * 7919) % 600)) * minuteMs
    const rule = rules[i % rules.length] as (typeof rules)[number]
    const cause = { rule, level: 'ENDPOINT' as const, cause_id: `device-${i % (3 * rooms)}`, cause_name: 'Bar' }
    const times = { since: opened_at, opened_at, updated_at: resolved_at, resolved_at, cause_ended_at: resolved_at }
    const acknowledged_at = i % 3 === 0 ? opened_at + (1 + ((i * 104_729) % 200)) * minuteMs : null
    const state = { version: 1, severity: 'WARNING' as const, state: 'RESOLVED' as const, acknowledged_at }
    return { org, id: i + 1, ...state, ...cause, ...times }
  })
  const subjects = rows.flatMap(({ id, since, resolved_at }) =>
    Array.from({ length: id % oneInIncidentsCount === 0 ? subjectsOfOutageCount : 1 }, (_, i) => {
      const room = 1 + ((id * 31 + i) % rooms)
      const place = { room_id: room, room_name: `Room ${room}`, location_id: Math.ceil(room / 10), region_id: 1 }
      const subject = { subject_type: 'endpoint' as const, subject_id: `device-${(id * 31 + i) % (3 * rooms)}-${i}` }
      return { org, incident_id: id, ...subject, name: 'Bar', ...place, since, ended_at: resolved_at }
    }),
  )
  for (let at = 0; at < rows.length; at += rowsPerInsert) {
    const some = rows.slice(at, at + rowsPerInsert)
    await harness.services.db.systemTransaction(({ kysely }) => kysely.insertInto('incidents').values(some).execute())
  }
  for (let at = 0; at < subjects.length; at += rowsPerInsert) {
    const some = subjects.slice(at, at + rowsPerInsert)
    await harness.services.db.systemTransaction(({ kysely }) =>
      kysely.insertInto('incident_subjects').values(some).execute(),
    )
  }
}
