// Endpoints with a connection history that is written to the database directly, and readers of such a history.
import type { ConnectionEnd } from '../../../src/contract/fleet/connections.ts'
import type { Harness, TestOrg } from '../harness.ts'
import { type EndpointValues, putEndpoints } from './endpoint-rows.ts'

export type Span = readonly [since: number, until: number, why?: ConnectionEnd]

async function putSpans(harness: Harness, org: TestOrg, endpoint: number, spans: readonly Span[]): Promise<void> {
  const rows = spans.map(([since, until, why = 'LOST']) => ({ org: org.org.key, endpoint, since, until, why }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    for (let at = 0; at < rows.length; at += 1000) {
      const some = rows.slice(at, at + 1000)
      await kysely.insertInto('connection_spans').values(some).execute()
    }
  })
}

/** An endpoint whose row and spans are written directly. */
export async function putEndpointWithSpans(
  harness: Harness,
  org: TestOrg,
  values: EndpointValues,
  spans: readonly Span[],
) {
  const [row] = await putEndpoints(harness, org, [values])
  if (!row) throw new Error('no endpoint')
  await putSpans(harness, org, row.number, spans)
  return row
}

export const iso = (ms: number) => new Date(ms).toISOString()
/** Reads the connections of an endpoint or a room in a window. */
export const readConnections = async (org: TestOrg, path: string, from: number, to?: number) => {
  const query = new URLSearchParams({ from: iso(from), ...(to !== undefined && { to: iso(to) }) })
  return (await org.call('GET', `${path}/connections?${query}`)).body
}
