// SQL of bug reports and of their items, one for each endpoint.

import { isAnyOf } from '../../db/queries/any-of.ts'
import { byUuid } from '../../db/queries/by-uuid.ts'
import {
  visibleQuery,
  visibleQueryOne,
  wholeQuery,
  wholeQueryOne,
  write,
  writeExists,
  writeTelemetry,
} from '../../db/queries/query.ts'
import { systemWrite } from '../../db/system.ts'

type Key = { org: number; id: string }

interface NewReport extends Key {
  created_at: number
  expires_at: number
  in_call_logs: 0 | 1
}
/** Returns false if a report with this id exists. */
export const insertReport = writeExists((db, p: NewReport) =>
  db
    .insertInto('bug_reports')
    .values({
      org: p.org,
      id: p.id,
      created_at: p.created_at,
      expires_at: p.expires_at,
      in_call_logs: p.in_call_logs,
    })
    .onConflict((c) => c.columns(['org', 'id']).doNothing())
    .returning('id'),
)

/** Inserts an item for each command. Serial and model are copied, because an item outlives its endpoint. */
export const insertItems = write((db, p: { org: number; report: string; commands: readonly string[] }, engine) =>
  db
    .insertInto('bug_report_items')
    .columns(['org', 'report_id', 'endpoint_id', 'serial', 'model', 'operation_id'])
    .expression((e) =>
      e
        .selectFrom('operations as o')
        .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'o.org').onRef('e.id', '=', 'o.endpoint_id'))
        .innerJoin('bug_reports as r', (j) => j.onRef('r.org', '=', 'o.org').on('r.id', '=', p.report))
        .select(['o.org', 'r.id as report_id', 'e.id as endpoint_id', 'e.serial', 'e.model', 'o.id as operation_id'])
        .where('o.org', '=', p.org)
        .where(isAnyOf(engine, 'o.id', p.commands)),
    ),
)

/** A caller sees a report if one of its endpoints is visible. [contract 11.access] */
export const findReport = visibleQueryOne('bugReport', 'bug_reports.id', (db, p: Key) =>
  db
    .selectFrom('bug_reports')
    .select(['id', 'created_at', 'expires_at', 'in_call_logs'])
    .where('org', '=', p.org)
    .where('id', '=', p.id),
)
export type ReportRow = NonNullable<Awaited<ReturnType<typeof findReport>>>

export const listItems = visibleQuery('endpoint', 'i.endpoint_id', (db, p: Key) =>
  db
    .selectFrom('bug_report_items as i')
    .leftJoin('operations as o', (j) => j.onRef('o.org', '=', 'i.org').onRef('o.id', '=', 'i.operation_id'))
    .leftJoin('endpoints as e', (j) => j.onRef('e.org', '=', 'i.org').onRef('e.id', '=', 'i.endpoint_id'))
    .select(['i.endpoint_id', 'e.name', 'i.serial', 'i.model', 'i.file', 'i.size', 'i.uploaded_at'])
    .select(['o.state', 'o.updated_at', 'o.error'])
    .where('i.org', '=', p.org)
    .where('i.report_id', '=', p.id)
    .orderBy('i.endpoint_id'),
)
export type ItemRow = Awaited<ReturnType<typeof listItems>>[number]

/** Finds the item of an endpoint; its `file` is null until the bundle was uploaded. */
export const findFile = byUuid(
  visibleQueryOne('endpoint', 'bug_report_items.endpoint_id', (db, p: Key & { report: string }) =>
    db
      .selectFrom('bug_report_items')
      .select(['file', 'upload_id', 'operation_id'])
      .where('org', '=', p.org)
      .where('report_id', '=', p.report)
      .where('endpoint_id', '=', p.id),
  ),
)

/** Finds the item that a command collects logs for. The result is undefined after the command or the report was deleted. */
export const findUploadTarget = byUuid(
  wholeQueryOne((db, p: Key) =>
    db
      .selectFrom('bug_report_items as i')
      .innerJoin('operations as o', (j) => j.onRef('o.org', '=', 'i.org').onRef('o.id', '=', 'i.operation_id'))
      .select(['i.report_id', 'i.endpoint_id', 'i.file', 'o.state', 'o.deadline'])
      .where('i.org', '=', p.org)
      .where('i.operation_id', '=', p.id),
  ),
)
export type UploadTargetRow = NonNullable<Awaited<ReturnType<typeof findUploadTarget>>>

interface Uploaded {
  org: number
  command: string
  upload: string
  file: string
  size: number
  at: number
}
export const updateUploaded = writeTelemetry((db, p: Uploaded) =>
  db
    .updateTable('bug_report_items')
    .set({ upload_id: p.upload, file: p.file, size: p.size, uploaded_at: p.at })
    .where('org', '=', p.org)
    .where('operation_id', '=', p.command)
    .where('file', 'is', null),
)

/** Says that a bundle which was stored without an upload is the content of this one now. */
export const updateMovedBundle = writeTelemetry((db, p: { org: number; command: string; upload: string }) =>
  db
    .updateTable('bug_report_items')
    .set({ upload_id: p.upload })
    .where('org', '=', p.org)
    .where('operation_id', '=', p.command)
    .where('upload_id', 'is', null),
)

/** Deletes the expired reports of all organisations; their items are deleted with them. */
export const deleteExpiredReports = systemWrite((db, p: { now: number }) =>
  db.deleteFrom('bug_reports').where('expires_at', '<=', p.now).returning(['org', 'id']),
)

/** Returns those of the ids that exist. */
export const listExistingReports = wholeQuery((db, p: { org: number; ids: readonly string[] }, engine) =>
  db
    .selectFrom('bug_reports')
    .select('id')
    .where('org', '=', p.org)
    .where(isAnyOf(engine, 'id', p.ids)),
)
