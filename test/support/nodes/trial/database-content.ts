// Reads from PostgreSQL what the checkers compare with the logs of a trial.

import type { NodeCluster } from '../node-cluster.ts'
import type { AuditEntryRow } from './checkers/acknowledged-writes.ts'
import type { StoredCommand } from './checkers/executions.ts'
import type { DueQuarter, RollupPeriod, StoredRollup, StoredSample } from './checkers/samples.ts'

export interface DatabaseContent {
  readonly entries: readonly AuditEntryRow[]
  readonly commands: readonly StoredCommand[]
  readonly samples: readonly StoredSample[]
  readonly rollups: Readonly<Record<RollupPeriod, readonly StoredRollup[]>>
  readonly due: readonly DueQuarter[]
}

const ofEndpoints =
  'join endpoints e on e.org = s.org and e.number = s.endpoint join orgs o on o.key = s.org where o.id = $1'

export async function readContent(cluster: NodeCluster): Promise<DatabaseContent> {
  const rows = (text: string) => cluster.query(text, [cluster.org])
  const entries = await rows(
    'select a.seq, a.timestamp, a.request_id from audit_log a join orgs o on o.key = a.org where o.id = $1 order by a.seq',
  )
  const commands = await rows(
    'select c.id, c.type, c.state from operations c join orgs o on o.key = c.org where o.id = $1',
  )
  const samples = await rows(`select e.id, s.timestamp, s.co2 from samples s ${ofEndpoints}`)
  const readRollups = async (table: string): Promise<StoredRollup[]> => {
    const found = await rows(
      `select e.id, s.slot, sum(s.co2_count)::int as count, min(s.co2_min) as min, max(s.co2_max) as max, sum(s.co2_sum)::int as sum
        from ${table} s ${ofEndpoints} group by e.id, s.slot`,
    )
    return found.map(({ id, slot, count, min, max, sum }) => ({
      endpointId: String(id),
      slot: Number(slot),
      count: Number(count),
      min: Number(min),
      max: Number(max),
      sum: Number(sum),
    }))
  }
  const rollups = {
    quarter: await readRollups('sample_quarters'),
    hour: await readRollups('sample_hours'),
    day: await readRollups('sample_days'),
  }
  const due = await rows(`select e.id, s.slot from sample_due s ${ofEndpoints}`)
  return {
    entries: entries.map((row) => ({
      seq: Number(row.seq),
      timestamp: Number(row.timestamp),
      requestId: row.request_id as string | null,
    })),
    commands: commands.map(({ id, type, state }) => ({ id: String(id), type: String(type), state: String(state) })),
    samples: samples.map(({ id, timestamp, co2 }) => ({
      endpointId: String(id),
      timestamp: Number(timestamp),
      co2: co2 === null ? null : Number(co2),
    })),
    rollups,
    due: due.map(({ id, slot }) => ({ endpointId: String(id), slot: Number(slot) })),
  }
}

/** Open commands and quarters without a rollup, which end by themselves. */
export async function countUnfinished(cluster: NodeCluster): Promise<{ commands: number; quarters: number }> {
  const [row] = await cluster.query(
    `select (select count(*) from operations where state in ('QUEUED', 'SENT', 'ACKNOWLEDGED')) as commands,
      (select count(*) from sample_due) as quarters`,
  )
  return { commands: Number(row?.commands), quarters: Number(row?.quarters) }
}
