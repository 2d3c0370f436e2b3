// Writes the facts of a generated past as rows of an organisation.
import type { Insertable } from 'kysely'
import type { DatabaseSchema } from '../../../src/server/db/schema/schema.ts'
import { putEndpoints } from '../database/endpoint-rows.ts'
import type { Harness, TestOrg } from '../harness.ts'
import type { PastWorld, PlainDevice, PlainGateway, PlainSource } from './past-world.ts'

const rowsPerInsert = 300

export async function putWorld(harness: Harness, org: TestOrg, world: PastWorld): Promise<void> {
  const { key } = org.org
  const { regions, locations, rooms, devices, gateways, sources, silences, incidents } = world
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const put = async <T extends keyof DatabaseSchema>(table: T, rows: readonly Insertable<DatabaseSchema[T]>[]) => {
      for (let at = 0; at < rows.length; at += rowsPerInsert) {
        await kysely
          .insertInto(table)
          .values(rows.slice(at, at + rowsPerInsert))
          .execute()
      }
    }
    const common = { org: key, version: 1 }
    await put(
      'regions',
      regions.map((id) => ({ ...common, id, name: `Region ${id}` })),
    )
    await put(
      'locations',
      locations.flatMap(({ id, region, zone, isDeleted, windows }) => {
        const hours = windows.at(-1)?.hours
        const change_window = hours ? JSON.stringify(hours) : null
        return isDeleted
          ? []
          : [{ ...common, id, name: `Location ${id}`, region_id: region, timezone: zone, change_window }]
      }),
    )
    await put(
      'former_change_windows',
      locations.flatMap(({ id, windows }) =>
        windows
          .filter(({ until }) => Number.isFinite(until))
          .map(({ until, hours }) => {
            return { org: key, location_id: id, until, change_window: hours ? JSON.stringify(hours) : null }
          }),
      ),
    )
    const room = { ...common, profile_id: null, dec_used_at: null, dec_timeout: 0, capacity: null }
    await put(
      'rooms',
      rooms.flatMap(({ id, location, deletedAt }) =>
        deletedAt === undefined
          ? [{ ...room, id, name: `Room ${id}`, location_id: location, dec_sealed: Buffer.from([id % 256]) }]
          : [],
      ),
    )
    await put(
      'deleted_rooms',
      rooms.flatMap(({ id, location: location_id, deletedAt }) => {
        const location = locations.find((one) => one.id === location_id)
        if (deletedAt === undefined || !location) return []
        const place = { location_id, location_name: `Location ${location_id}`, region_id: location.region }
        const rest = { region_name: `Region ${location.region}`, timezone: location.zone, capacity: null, tags: '[]' }
        return [{ org: key, id, name: `Room ${id}`, ...place, ...rest, fields: null, deleted_at: deletedAt }]
      }),
    )
  })
  await putDevices(harness, org, devices)
  await putAway(harness, org, gateways, sources)
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const author = { author_type: 'KEY', author_id: '1', author_name: 'Key' }
    for (const [i, silence] of silences.entries()) {
      const { place, placeId, rules, weekly, since, until } = silence
      const texts = { rules: rules && JSON.stringify(rules), weekly: weekly && JSON.stringify(weekly), reason: 'Test' }
      const row = { org: key, id: i + 1, version: 1, place_type: place, place_id: placeId, since, until }
      await kysely
        .insertInto('silences')
        .values({ ...row, ...texts, ...author })
        .execute()
    }
    for (const [i, incident] of incidents.entries()) {
      const { rule, level, causeId, severity, openedAt, resolvedAt, acknowledgedAt, reopenings, subjects } = incident
      const times = { since: openedAt, opened_at: openedAt, updated_at: resolvedAt ?? openedAt }
      const ended = incident.isMerged ? ('MERGED' as const) : ('RESOLVED' as const)
      const open = acknowledgedAt === null ? ('OPEN' as const) : ('ACKNOWLEDGED' as const)
      const state = resolvedAt === null ? open : ended
      const cause = { rule, level, cause_id: causeId, cause_name: 'Bar' }
      const end = { resolved_at: resolvedAt, cause_ended_at: resolvedAt, reopenings: JSON.stringify(reopenings) }
      const rest = { acknowledged_at: acknowledgedAt, ...times, ...end }
      await kysely
        .insertInto('incidents')
        .values({ org: key, id: i + 1, version: 1, severity, state, ...cause, ...rest })
        .execute()
      const placeOf = (room: number) => {
        const location_id = rooms.find(({ id }) => id === room)?.location ?? null
        const region_id = locations.find(({ id }) => id === location_id)?.region ?? null
        return { room_id: room, room_name: `Room ${room}`, location_id, region_id }
      }
      for (const { device, room, since, endedAt } of subjects) {
        const subject = { subject_type: 'endpoint' as const, subject_id: device, name: 'Bar', since, ended_at: endedAt }
        await kysely
          .insertInto('incident_subjects')
          .values({ org: key, incident_id: i + 1, ...subject, ...placeOf(room) })
          .execute()
      }
      if (incident.ofRoom === undefined) continue
      const subject = { subject_type: 'room' as const, subject_id: String(incident.ofRoom), name: 'Room' }
      await kysely
        .insertInto('incident_subjects')
        .values({
          ...{ org: key, incident_id: i + 1, ...subject, since: openedAt, ended_at: resolvedAt },
          ...placeOf(incident.ofRoom),
        })
        .execute()
    }
  })
}

async function putDevices(harness: Harness, org: TestOrg, devices: readonly PlainDevice[]): Promise<void> {
  const { key } = org.org
  const present = devices.filter(({ deletedAt }) => deletedAt === undefined)
  await putEndpoints(
    harness,
    org,
    present.map(({ id, number, stays, spans }) => {
      const stay = stays.at(-1)
      const last = spans.at(-1)
      const lasts = last !== undefined && last.until === undefined
      return {
        ...{ id, number, model: stay?.model ?? 'AQ-2', status: JSON.stringify(stay?.kind ? { kind: stay.kind } : {}) },
        ...(lasts ? { connected: 1 } : {}),
        connection_time: last ? (last.until ?? last.since) : null,
        ...(lasts && { via: last.gateway, source_id: last.source }),
      }
    }),
  )
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (const { id, number, deletedAt, stays, spans } of devices) {
      for (const { room, since, until, model, kind, isForgotten } of stays) {
        const isKept = until !== null && !isForgotten
        const was = isKept
          ? { serial: `S${id.slice(0, 8)}`, model, reported_kind: kind ?? null, presence_only: 0 }
          : { serial: null, model: null, reported_kind: null, presence_only: null }
        const row = { org: key, endpoint: number, since, until, room_id: room, endpoint_id: id }
        await kysely
          .insertInto('endpoint_rooms')
          .values({ ...row, ...was })
          .execute()
      }
      for (let at = 0; at < spans.length; at += rowsPerInsert) {
        const rows = spans.slice(at, at + rowsPerInsert).flatMap((span) => {
          const { since, until, why, unknownUntil, isRested, oversleptAt, gateway, source } = span
          if (until === undefined) return []
          return [
            {
              ...{ org: key, endpoint: number, since, until, why, unknown_until: unknownUntil },
              ...{ rested: isRested ? 1 : 0, overslept_at: oversleptAt, via: gateway, source_id: source },
            },
          ]
        })
        if (rows.length > 0) await kysely.insertInto('connection_spans').values(rows).execute()
      }
      // A device that was deleted has no connection that lasts.
      if (deletedAt !== undefined && spans.some(({ until }) => until === undefined))
        throw new Error('a deleted device is connected')
    }
  })
}

async function putAway(
  harness: Harness,
  org: TestOrg,
  gateways: readonly PlainGateway[],
  sources: readonly PlainSource[],
): Promise<void> {
  const { key } = org.org
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (const { id, deletedAt } of gateways) {
      if (deletedAt === undefined)
        await kysely.insertInto('gateways').values({ org: key, endpoint_id: id, version: 1 }).execute()
    }
    for (const { id, gateway, deletedAt, absences } of sources) {
      if (deletedAt === undefined) {
        const settings = { url: 'https://example.org', settings: '{}', secrets: null, revision: 1, target_revision: 1 }
        const times = { state: 'CONNECTED' as const, since: 0, reached_at: 0, returned_at: 0, created_at: 0 }
        const rest = { enrol_room_id: null, reason: null, content: null, structure_at: null }
        await kysely
          .insertInto('sources')
          .values({ org: key, id, gateway_id: gateway, type: 'mqtt', name: 'MQTT', ...settings, ...times, ...rest })
          .execute()
      }
      for (const { since, until } of absences) {
        const row = { org: key, source_id: id, since }
        if (deletedAt === undefined)
          await kysely
            .insertInto('source_absences')
            .values({ ...row, until })
            .execute()
        else {
          const former = { ...row, until: until ?? deletedAt, deleted_at: deletedAt }
          await kysely.insertInto('former_source_absences').values(former).execute()
        }
      }
    }
  })
}
