// SQL of the table of tasks, which names the node that holds each scheduled task.
import { sql } from 'kysely'
import type { EngineName } from '../db/engine.ts'
import { jsonRows } from '../db/queries/json-rows.ts'
import { systemQuery, systemQueryExists, systemQueryOne, systemWrite } from '../db/system.ts'

/** A whole task has the part 0. */
export type TaskKey = readonly [name: string, part: number]

const keysOf = (engine: EngineName, keys: readonly TaskKey[]) =>
  jsonRows<{ name: string; part: number }>(engine, keys, { name: 'text', part: 'integer' })

/** The tasks that a living node holds. */
export const listHeldTasks = systemQuery((db, _: object) =>
  db
    .selectFrom('tasks as t')
    .innerJoin('nodes as n', 'n.id', 't.node_id')
    .select(['t.name', 't.part', 't.node_id'])
    .where('n.state', '=', 'up'),
)

export const countNodesUp = systemQueryOne((db, _: object) =>
  db
    .selectFrom('nodes')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('state', '=', 'up'),
)

/**
 * Makes a node the holder of those tasks that no living node holds, and returns them. The keys must be sorted, so that two nodes do
 * not wait for each other. A node that is not up itself gets none.
 */
export const claimTasks = systemWrite((db, p: { node: number; keys: readonly TaskKey[] }, engine) =>
  db
    .insertInto('tasks')
    .columns(['name', 'part', 'node_id'])
    .expression((q) =>
      q
        .selectFrom(keysOf(engine, p.keys).as('k'))
        .innerJoin('nodes as n', (j) => j.on('n.id', '=', p.node).on('n.state', '=', 'up'))
        .select(['k.name', 'k.part', 'n.id'])
        .where(sql<boolean>`true`),
    )
    .onConflict((c) =>
      c
        .columns(['name', 'part'])
        .doUpdateSet((e) => ({ node_id: e.ref('excluded.node_id') }))
        .where(
          sql<boolean>`not exists (select 1 from nodes as holder where holder.id = tasks.node_id and holder.state = 'up')`,
        ),
    )
    .returning(['name', 'part']),
)

/** Whether the node holds the task. On PostgreSQL it stays the holder until the end of the transaction: a claim waits for that. */
export const isHeldBy = systemQueryExists((db, p: { node: number; name: string; part: number }, engine) =>
  db
    .selectFrom('tasks')
    .select('node_id')
    .where('name', '=', p.name)
    .where('part', '=', p.part)
    .where('node_id', '=', p.node)
    .$if(engine === 'postgres', (q) => q.forShare()),
)

export const releaseTasks = systemWrite((db, p: { node: number; keys: readonly TaskKey[] }, engine) =>
  db
    .deleteFrom('tasks')
    .where('node_id', '=', p.node)
    .where(sql<boolean>`(name, part) in ${keysOf(engine, p.keys)}`),
)
