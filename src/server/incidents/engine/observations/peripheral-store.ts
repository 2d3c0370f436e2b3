// SQL of the peripherals that endpoints have had.

import type { TelemetryTx } from '../../../db/handles.ts'
import { inParts } from '../../../db/queries/in-parts.ts'
import { jsonRows } from '../../../db/queries/json-rows.ts'
import { wholeQuery, writeTelemetry } from '../../../db/queries/query.ts'

export interface PeripheralsRow {
  readonly endpoint_id: string
  readonly peripherals: string
}

/** Lists a page of the rows, in the order of their endpoints. */
export const listKnownPeripheralsAfter = wholeQuery((db, p: { org: number; after: string; limit: number }) =>
  db
    .selectFrom('known_peripherals')
    .select(['endpoint_id', 'peripherals'])
    .where('org', '=', p.org)
    .where('endpoint_id', '>', p.after)
    .orderBy('endpoint_id')
    .limit(p.limit),
)

const rowTypes = { endpoint_id: 'text', peripherals: 'text' } as const

/** Leaves out endpoints that were deleted in the meantime. */
const upsertRows = writeTelemetry((db, p: { org: number; rows: readonly unknown[] }, engine) =>
  db
    .insertInto('known_peripherals')
    .columns(['org', 'endpoint_id', 'peripherals'])
    .expression((q) =>
      q
        .selectFrom('endpoints as e')
        .innerJoin(jsonRows<PeripheralsRow>(engine, p.rows, rowTypes).as('r'), 'r.endpoint_id', 'e.id')
        .select(['e.org', 'r.endpoint_id', 'r.peripherals'])
        .where('e.org', '=', p.org),
    )
    .onConflict((c) =>
      c.columns(['org', 'endpoint_id']).doUpdateSet((e) => ({ peripherals: e.ref('excluded.peripherals') })),
    ),
)
export async function upsertKnownPeripherals(tx: TelemetryTx, rows: readonly PeripheralsRow[]): Promise<void> {
  for await (const part of inParts(rows)) {
    await upsertRows(tx, { rows: part.map((row) => [row.endpoint_id, row.peripherals]) })
  }
}
