// SQL of the uploads of log bundles, and on PostgreSQL of their content.

import { queryOne, wholeQuery, writeTelemetry, writeTelemetryExists } from '../../../db/queries/query.ts'
import { systemQuery, systemQueryOne } from '../../../db/system.ts'

interface NewUpload {
  org: number
  id: string
  report: string
  endpoint: string
  bytes: number
  at: number
}
/** Until the upload is complete, `bytes` is what it may take. */
export const insertUpload = writeTelemetry((db, p: NewUpload) =>
  db
    .insertInto('bundle_uploads')
    .values({ org: p.org, id: p.id, report_id: p.report, endpoint_id: p.endpoint, bytes: p.bytes, started_at: p.at }),
)

/** Returns false if the upload was deleted. */
export const updateUploadSize = writeTelemetryExists((db, p: { org: number; id: string; bytes: number }) =>
  db
    .updateTable('bundle_uploads')
    .set({ bytes: p.bytes })
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .returning('id'),
)

/** Deletes an upload with its content, unless it is the one that counts. */
export const deleteUpload = writeTelemetry((db, p: { org: number; id: string }) =>
  db
    .deleteFrom('bundle_uploads')
    .where('org', '=', p.org)
    .where('id', '=', p.id)
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom('bug_report_items as i')
            .select('i.org')
            .whereRef('i.org', '=', 'bundle_uploads.org')
            .whereRef('i.report_id', '=', 'bundle_uploads.report_id')
            .whereRef('i.endpoint_id', '=', 'bundle_uploads.endpoint_id')
            .whereRef('i.upload_id', '=', 'bundle_uploads.id'),
        ),
      ),
    ),
)

export const findUpload = queryOne(
  (db, p: { org: number; id: string }) =>
    db.selectFrom('bundle_uploads').select('bytes').where('org', '=', p.org).where('id', '=', p.id),
  'postgres',
)

/** Lists up to a hundred uploads that began before the given time and do not count. */
export const listAbandonedUploads = systemQuery((db, p: { before: number }) =>
  db
    .selectFrom('bundle_uploads as u')
    .leftJoin('bug_report_items as i', (j) =>
      j
        .onRef('i.org', '=', 'u.org')
        .onRef('i.report_id', '=', 'u.report_id')
        .onRef('i.endpoint_id', '=', 'u.endpoint_id')
        .onRef('i.upload_id', '=', 'u.id'),
    )
    .select(['u.org', 'u.report_id as report', 'u.id'])
    .where('u.started_at', '<', p.before)
    .where('i.org', 'is', null)
    .limit(100),
)

const sumUploads = systemQueryOne((db, _: object) =>
  db.selectFrom('bundle_uploads').select((e) => e.fn.coalesce(e.fn.sum<number>('bytes'), e.lit(0)).as('bytes')),
)
const sumOldBundles = systemQueryOne((db, _: object) =>
  db
    .selectFrom('bug_report_items')
    .select((e) => e.fn.coalesce(e.fn.sum<number>('size'), e.lit(0)).as('bytes'))
    .where('upload_id', 'is', null),
)
/** Returns what all bundles of all organisations take, those that are being uploaded included. */
export async function sumBundleBytes(on: Parameters<typeof sumUploads>[0]): Promise<number> {
  const [uploads, old] = [await sumUploads(on), await sumOldBundles(on)]
  return Number(uploads?.bytes) + Number(old?.bytes)
}

export const insertChunk = writeTelemetry(
  (db, p: { org: number; upload: string; seq: number; bytes: Buffer }) =>
    db.insertInto('bundle_chunks').values({ org: p.org, upload_id: p.upload, seq: p.seq, bytes: p.bytes }),
  'postgres',
)

export const findChunk = queryOne(
  (db, p: { org: number; upload: string; seq: number }) =>
    db
      .selectFrom('bundle_chunks')
      .select('bytes')
      .where('org', '=', p.org)
      .where('upload_id', '=', p.upload)
      .where('seq', '=', p.seq),
  'postgres',
)

/** Lists the bundles of these reports that version 0.1 stored in its folder. */
export const listOldBundles = wholeQuery((db, p: { org: number; report: string }) =>
  db
    .selectFrom('bug_report_items')
    .select(['endpoint_id as endpoint', 'operation_id as command', 'file', 'size'])
    .where('org', '=', p.org)
    .where('report_id', '=', p.report)
    .where('file', 'is not', null)
    .where('upload_id', 'is', null),
)
