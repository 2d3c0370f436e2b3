// The certificate of each node: one node looks for incidents, and knows when those of the others expire.
import { test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { twoNodes } from '../support/nodes/two-nodes.ts'
import { until } from '../support/program.ts'

test('an incident opens for the certificate of any node, and ends when that node has left [contract 10.rule]', async () => {
  const { a, call, start } = await twoNodes()
  const open = async () => {
    const { incidents } = (await call(a, 'GET', '/incidents')).body
    return incidents.filter(
      ({ rule, resolvedAt }: Record<string, unknown>) => rule === 'certificate.expiring' && !resolvedAt,
    )
  }
  const { cert, key } = certificate(a, { lifetimeDays: 10 })
  // It starts last, so the tasks of the organisation are at another node.
  const secure = await start({ tlsCert: cert, tlsKey: key })
  await until('the incident opens', async () => (await open()).length === 1, { timeoutMs: 30_000 })
  await secure.close()
  await until('the incident ends', async () => (await open()).length === 0, { timeoutMs: 30_000 })
}, 90_000)
