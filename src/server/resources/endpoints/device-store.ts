// SQL of the writes that devices cause: enrolment, connects, disconnects and status reports.

import { sql } from 'kysely'
import type { Tx } from '../../db/handles.ts'
import { nextId } from '../../db/next-id.ts'
import {
  queryOne,
  write,
  writeExists,
  writeTelemetry,
  writeTelemetryExists,
  writeTelemetryOne,
} from '../../db/query.ts'
import { systemQueryOne, systemWrite } from '../../db/system.ts'
import { insertStay } from './stay-store.ts'

export const findByCredential = systemQueryOne((db, p: { hash: Buffer }) =>
  db
    .selectFrom('credential_directory as c')
    .innerJoin('orgs as o', 'o.key', 'c.org')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'c.org').onRef('e.id', '=', 'c.endpoint_id'))
    .select(['o.key as org_key', 'o.id as org_id', 'e.id', 'e.number', 'e.serial', 'e.model'])
    .where('c.hash', '=', p.hash),
)

/** Searches all organisations. */
export const findBySerial = systemQueryOne((db, p: { serial: string }) =>
  db
    .selectFrom('serial_directory as s')
    .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.id', '=', 's.endpoint_id'))
    .select(['s.org', 'e.id', 'e.model', 'e.room_id', 'e.profile_id', 'e.pairing_serial'])
    .where('s.serial', '=', p.serial),
)

/** Returns false if another organisation claimed the serial concurrently. */
export const claimSerial = writeExists((db, p: { serial: string; org: number; id: string }) =>
  db
    .insertInto('serial_directory')
    .values({ serial: p.serial, org: p.org, endpoint_id: p.id })
    .onConflict((c) => c.column('serial').doNothing())
    .returning('serial'),
)

export interface EnrolledRow {
  id: string
  serial: string
  pairing_serial: string | null
  model: string
  room_id: number
  profile_id: number | null
  enrolment_time: number
}
const insertRow = write((db, p: EnrolledRow & { org: number; number: number }) =>
  db.insertInto('endpoints').values({
    org: p.org,
    id: p.id,
    number: p.number,
    version: 1,
    serial: p.serial,
    pairing_serial: p.pairing_serial,
    model: p.model,
    room_id: p.room_id,
    profile_id: p.profile_id,
    connected: 0,
    connection_time: null,
    enrolment_time: p.enrolment_time,
    status: '{}',
  }),
)
export async function insertEndpoint(tx: Tx, endpoint: EnrolledRow): Promise<void> {
  await insertRow(tx, { ...endpoint, number: await nextId(tx, 'endpoint') })
  await insertStay(tx, [endpoint.id], endpoint.room_id, endpoint.enrolment_time)
}

const updateRow = write((db, p: Omit<EnrolledRow, 'serial'> & { org: number }) =>
  db
    .updateTable('endpoints')
    .set((e) => ({
      version: e('version', '+', 1),
      pairing_serial: p.pairing_serial,
      model: p.model,
      room_id: p.room_id,
      profile_id: p.profile_id,
      enrolment_time: p.enrolment_time,
    }))
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export async function updateEnrolled(tx: Tx, endpoint: EnrolledRow): Promise<void> {
  await updateRow(tx, endpoint)
  await insertStay(tx, [endpoint.id], endpoint.room_id, endpoint.enrolment_time)
}

const deleteCredential = write((db, p: { org: number; id: string }) =>
  db.deleteFrom('credential_directory').where('org', '=', p.org).where('endpoint_id', '=', p.id),
)
const insertCredential = write((db, p: { org: number; id: string; hash: Buffer }) =>
  db.insertInto('credential_directory').values({ hash: p.hash, org: p.org, endpoint_id: p.id }),
)
/** The old credential stops working. */
export const replaceCredential = async (tx: Tx, id: string, hash: Buffer) => {
  await deleteCredential(tx, { id })
  await insertCredential(tx, { id, hash })
}

/**
 * Returns undefined if the credential was replaced since the device was identified. `may_wait` is false if the device has
 * confirmed its config and has no open command, which saves the queries for both.
 */
export const updateConnected = writeTelemetryOne((db, p: { org: number; id: string; hash: Buffer; at: number }) =>
  db
    .updateTable('endpoints')
    .set({ connected: 1, connection_time: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('credential_directory').select('org').where('hash', '=', p.hash)),
    )
    .returning(({ exists, or, selectFrom }) => [
      or([
        exists(
          selectFrom('endpoint_configs as c')
            .select('c.org')
            .whereRef('c.org', '=', 'endpoints.org')
            .whereRef('c.endpoint_id', '=', 'endpoints.id')
            .where((c) => c.or([c('c.state', '=', 'PENDING'), c('c.reported_version', '!=', c.ref('c.version'))])),
        ),
        exists(
          selectFrom('operations as o')
            .select('o.org')
            .whereRef('o.org', '=', 'endpoints.org')
            .whereRef('o.endpoint_id', '=', 'endpoints.id')
            .where(sql<boolean>`o.state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')`),
        ),
      ]).as('may_wait'),
    ]),
)

/** Returns false if the endpoint was unenrolled since it connected. */
export const updateDisconnected = writeTelemetryExists((db, p: { org: number; id: string; at: number }) =>
  db
    .updateTable('endpoints')
    .set({ connected: 0, connection_time: p.at })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .returning('id'),
)

export const updateAllDisconnected = systemWrite((db, p: { at: number }) =>
  db.updateTable('endpoints').set({ connected: 0, connection_time: p.at }).where('connected', '=', 1),
)

export const findStatus = queryOne((db, p: { org: number; id: string }) =>
  db.selectFrom('endpoints').select(['status', 'pairing_serial']).where('org', '=', p.org).where('id', '=', p.id),
)

export const updateStatus = writeTelemetry(
  (db, p: { org: number; id: string; status: string; pairing_serial: string | null }) =>
    db
      .updateTable('endpoints')
      .set({ status: p.status, pairing_serial: p.pairing_serial })
      .where('org', '=', p.org)
      .where('id', '=', p.id),
)
