// SQL that writes incoming samples: to the history, and as the latest sample of their endpoint.

import { type Selectable, sql } from 'kysely'
import { insertMany, type NumberRow } from '../../db/queries/insert-many.ts'
import { type DatabaseSchema, sensorColumns } from '../../db/schema/schema.ts'
import { type SystemTx, systemQuery } from '../../db/system.ts'

export type SampleRow = Omit<Selectable<DatabaseSchema['samples_latest']>, 'org' | 'endpoint'>

/** The columns of a sample, in the order in which rows are written. */
export const columns = ['timestamp', ...sensorColumns, 'shutter_closed'] as const satisfies readonly (keyof SampleRow)[]

/** The values of a row, with the numbers of its key in front. */
export const valuesOf = (row: SampleRow, ...key: number[]): NumberRow => [...key, ...columns.map((name) => row[name])]

/** A stored sample of the same endpoint and timestamp stays as it is. */
export const insertSamples = insertMany('samples', ['org', 'slot', 'endpoint', ...columns], 'do nothing')

const newer = `(org, endpoint) do update set ${columns.map((c) => `${c} = excluded.${c}`).join(', ')} where samples_latest.timestamp < excluded.timestamp`

/** Does not replace a newer sample. The rows must not name an endpoint twice. */
export const updateLatest = insertMany('samples_latest', ['org', 'endpoint', ...columns], newer)

/** Like `updateLatest`, but returns the endpoints whose sample was replaced, which costs a little more. */
export const updateLatestReturning = insertMany(
  'samples_latest',
  ['org', 'endpoint', ...columns],
  `${newer} returning org, endpoint`,
) as (on: SystemTx, rows: readonly NumberRow[]) => Promise<{ org: number; endpoint: number }[]>

/**
 * Returns those of the hashes, in hexadecimal, that no endpoint has as its credential any more. A credential never passes to another
 * endpoint, and is deleted with its own.
 */
export const listRevoked = systemQuery((db, p: { hashes: readonly string[] }, engine) =>
  db
    .selectFrom(
      engine === 'postgres'
        ? sql<{ value: string }>`jsonb_array_elements_text(${p.hashes}::jsonb)`.as('h')
        : sql<{ value: string }>`json_each(${p.hashes})`.as('h'),
    )
    .select(engine === 'postgres' ? sql<string>`h`.as('hash') : 'h.value as hash')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('credential_directory as c')
            .select('c.org')
            .where('c.hash', '=', engine === 'postgres' ? sql<Buffer>`decode(h, 'hex')` : sql<Buffer>`unhex(h.value)`),
        ),
      ),
    ),
)
