// SQL of the endpoints that a MOVE job has moved, and where it found them.
import type { Selectable } from 'kysely'
import type { Tx } from '../../../db/handles.ts'
import { isAnyOf } from '../../../db/queries/any-of.ts'
import { wholeQuery, write } from '../../../db/queries/query.ts'
import type { DatabaseSchema } from '../../../db/schema/schema.ts'
import type { JobKey } from '../../store.ts'

type MoveRow = Omit<Selectable<DatabaseSchema['job_moves']>, 'org'>
type ForUnit = JobKey & { unit: number }

/** Lists the moved endpoints of a unit, and whether the rooms that they had still exist. */
export const listMoves = wholeQuery((db, p: ForUnit) =>
  db
    .selectFrom('job_moves as m')
    .leftJoin('rooms as r', (j) => j.onRef('r.org', '=', 'm.org').onRef('r.id', '=', 'm.room_before'))
    .select(['m.endpoint_id', 'm.room_before', 'm.room_after', 'r.name as room_name'])
    .where('m.org', '=', p.org)
    .where('m.job_id', '=', p.job)
    .where('m.unit', '=', p.unit)
    .orderBy('m.endpoint_id'),
)
export type Move = Awaited<ReturnType<typeof listMoves>>[number]

const upsertMove = write((db, p: { org: number } & MoveRow) =>
  db
    .insertInto('job_moves')
    .values({
      org: p.org,
      job_id: p.job_id,
      unit: p.unit,
      endpoint_id: p.endpoint_id,
      room_before: p.room_before,
      room_after: p.room_after,
    })
    .onConflict((c) =>
      c.columns(['org', 'job_id', 'unit', 'endpoint_id']).doUpdateSet((e) => ({
        room_before: e.ref('excluded.room_before'),
        room_after: e.ref('excluded.room_after'),
      })),
    ),
)
export async function upsertMoves(tx: Tx, moves: readonly MoveRow[]): Promise<void> {
  for (const move of moves) await upsertMove(tx, move)
}

export const deleteMoves = write((db, p: ForUnit & { ids: readonly string[] }, engine) =>
  db
    .deleteFrom('job_moves')
    .where('org', '=', p.org)
    .where('job_id', '=', p.job)
    .where('unit', '=', p.unit)
    .where(isAnyOf(engine, 'endpoint_id', p.ids)),
)
