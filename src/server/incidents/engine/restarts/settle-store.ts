// SQL of the restarts of the service: the lives of nodes, the devices that they had, and the restarts that were judged.
import { isAnyNumberOf, isAnyTimeOf } from '../../../db/queries/any-of.ts'
import { wholeQuery, wholeQueryOne, writeTelemetry } from '../../../db/queries/query.ts'

/** Lists the devices of a node that has ended that are not connected again, without those that may sleep. Rows that were cleared already name no node. */
export const listLostDevices = wholeQuery((db, p: { org: number; node: number; endedAt: number }) =>
  db
    .selectFrom('endpoints')
    .select('id')
    .where('org', '=', p.org)
    .where('rest', 'is', null)
    .where((e) =>
      e.or([e('node_id', '=', p.node), e.and([e('node_id', 'is', null), e('connection_time', '=', p.endedAt)])]),
    ),
)

interface EndedNodes {
  org: number
  nodes: readonly number[]
  ends: readonly number[]
}

/**
 * Counts the devices that were connected to nodes when these ended, without those that may sleep. The connections of devices that are back or were cleared are in the
 * history, and a device that went from one of the nodes to the next one has several.
 */
export const countDevicesOfNodes = wholeQueryOne((db, p: EndedNodes, engine) =>
  db
    .selectFrom((q) =>
      q
        .selectFrom('connection_spans as s')
        .innerJoin('endpoints as e', (j) => j.onRef('e.org', '=', 's.org').onRef('e.number', '=', 's.endpoint'))
        .select('s.endpoint as number')
        .where('e.rest', 'is', null)
        .where('s.org', '=', p.org)
        .where(isAnyTimeOf(engine, 's.until', p.ends))
        .where('s.why', '=', 'SERVER_ENDED')
        .union(
          q
            .selectFrom('endpoints as e')
            .select('e.number')
            .where('e.org', '=', p.org)
            .where('e.rest', 'is', null)
            .where(isAnyNumberOf(engine, 'e.node_id', p.nodes)),
        )
        .as('devices'),
    )
    .select((e) => e.fn.countAll<number | string>().as('count')),
)

export const findJudgedUntil = wholeQueryOne((db, p: { org: number }) =>
  db.selectFrom('incident_progress').select('judged_until').where('org', '=', p.org),
)

export const upsertJudgedUntil = writeTelemetry((db, p: { org: number; judgedUntil: number }) =>
  db
    .insertInto('incident_progress')
    .values({ org: p.org, judged_until: p.judgedUntil })
    .onConflict((c) => c.column('org').doUpdateSet({ judged_until: p.judgedUntil })),
)

export const findLastRun = wholeQueryOne((db, p: { org: number }) =>
  db.selectFrom('incident_progress').select('looked_at').where('org', '=', p.org),
)

export const upsertLastRun = writeTelemetry((db, p: { org: number; ranAt: number }) =>
  db
    .insertInto('incident_progress')
    .values({ org: p.org, judged_until: 0, looked_at: p.ranAt })
    .onConflict((c) => c.column('org').doUpdateSet({ looked_at: p.ranAt })),
)
