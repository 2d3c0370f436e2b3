// Observes whether endpoints keep disconnecting. [contract 10.rule]
import { minuteMs } from '../../../../contract/durations.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { readInParts } from '../../../db/queries/in-parts.ts'
import { conditionOf, type Observation } from '../types.ts'
import { listDisconnects, listIdsOfNumbers, listNumbersOfIds, listRestarts } from './flapping-store.ts'
import { type FullInput, type QuickInput, slackMs } from './input.ts'

/** Observes the endpoints that have disconnected since the last observation. */
export async function observeFlappingQuickly(on: OrgReader, input: QuickInput): Promise<Observation[]> {
  const recent = await listDisconnects(on, { from: input.from - slackMs })
  if (recent.length === 0) return []
  const numbers = recent.map(({ endpoint }) => endpoint)
  return observe(input, await listIds(on, numbers), await countDisconnects(on, input))
}

export async function observeFlapping(on: OrgReader, input: FullInput): Promise<Observation[]> {
  const counts = await countDisconnects(on, input)
  const least = input.rules['device.flapping'].limits.disconnects ?? 0
  const numbers = [...counts.values()].filter(({ count }) => count >= least).map(({ endpoint }) => endpoint)
  const ids = input.findings.filter(({ rule }) => rule === 'device.flapping').map(({ subject }) => subject.id)
  const endpoints = [
    ...(await listIds(on, numbers)),
    ...(await readInParts(ids, (part) => listNumbersOfIds(on, { ids: part }))),
  ]
  return observe(input, endpoints, counts)
}

const listIds = (on: OrgReader, numbers: readonly number[]) =>
  readInParts(numbers, (part) => listIdsOfNumbers(on, { numbers: part }))

interface Disconnects {
  readonly endpoint: number
  readonly count: number
  readonly last: number
}

async function countDisconnects(
  on: OrgReader,
  { now, rules }: Pick<FullInput, 'now' | 'rules'>,
): Promise<ReadonlyMap<number, Disconnects>> {
  const { withinMinutes = 0, disconnects = 0 } = rules['device.flapping'].limits
  const windowMs = withinMinutes * minuteMs
  // The time without disconnects that ends an incident can be longer than the window in which they are counted.
  const longestMs = Math.max(windowMs, rules['device.flapping'].clearMs)
  const rows = await listDisconnects(on, { from: now - longestMs })
  const counted = longestMs === windowMs ? rows : await listDisconnects(on, { from: now - windowMs })
  // PostgreSQL counts in a type that its driver gives as text.
  const counts = new Map(counted.map(({ endpoint, count }) => [endpoint, Number(count)]))
  // Restarts on purpose are looked for only where they could make a difference. [contract 12.when]
  const numbers = [...counts].filter(([, count]) => count >= disconnects).map(([endpoint]) => endpoint)
  const restarts = await readInParts(numbers, (part) => listRestarts(on, { numbers: part, from: now - windowMs }))
  for (const { endpoint, count } of restarts) counts.set(endpoint, (counts.get(endpoint) ?? 0) - Number(count))
  return new Map(
    rows.map(({ endpoint, last }) => [endpoint, { endpoint, count: counts.get(endpoint) ?? 0, last: last ?? 0 }]),
  )
}

function observe(
  { rules }: Pick<FullInput, 'now' | 'rules'>,
  endpoints: readonly { readonly id: string; readonly number: number }[],
  counts: ReadonlyMap<number, Disconnects>,
): Observation[] {
  const { disconnects = 0 } = rules['device.flapping'].limits
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
  return [...byId.values()].map(({ id, number }): Observation => {
    const condition = conditionOf('device.flapping', id)
    const { count = 0, last = 0 } = counts.get(number) ?? {}
    // The opposite of flapping counts from the last disconnect.
    return count >= disconnects ? { ...condition, state: 'holds' } : { ...condition, state: 'clear', since: last }
  })
}
