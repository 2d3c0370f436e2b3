// SQL of samples that come in: into the history, and as the latest of their endpoint.

import type { Selectable } from 'kysely'
import { insertMany, type NumberRow } from '../../../db/insert-many.ts'
import { type DatabaseSchema, sensorColumns } from '../../../db/schema.ts'
import type { SystemTx } from '../../../db/system.ts'

export type SampleRow = Omit<Selectable<DatabaseSchema['samples_latest']>, 'org' | 'endpoint'>

/** Of what was measured, in the order in which rows are written. */
export const columns = ['timestamp', ...sensorColumns, 'shutter_closed'] as const satisfies readonly (keyof SampleRow)[]

/** A row of them, behind the numbers that make its key. */
export const valuesOf = (row: SampleRow, ...key: number[]): NumberRow => [...key, ...columns.map((name) => row[name])]

/** What is there already, at the same time of the same endpoint, stays as it is. */
export const insertSamples = insertMany('samples', ['org', 'slot', 'endpoint', ...columns], 'do nothing')

const newer = `(org, endpoint) do update set ${columns.map((c) => `${c} = excluded.${c}`).join(', ')} where samples_latest.timestamp < excluded.timestamp`

/** Unless a newer one is there. No endpoint twice. */
export const updateLatest = insertMany('samples_latest', ['org', 'endpoint', ...columns], newer)

/** The same, and which endpoints have a newer one now. It costs a little more. */
export const updateLatestTold = insertMany(
  'samples_latest',
  ['org', 'endpoint', ...columns],
  `${newer} returning org, endpoint`,
) as (on: SystemTx, rows: readonly NumberRow[]) => Promise<{ org: number; endpoint: number }[]>
