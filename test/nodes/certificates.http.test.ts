// Tests that the node that looks for incidents knows when the certificates of the other nodes expire.
import { expect, test } from 'vitest'
import { minuteMs } from '../../src/contract/durations.ts'
import { certificate } from '../support/certificate.ts'
import { TestClock } from '../support/harness.ts'
import { twoNodes } from '../support/nodes/two-nodes.ts'
import { until } from '../support/program.ts'

test('an incident opens for the certificate of any node, and ends two minutes after that node has left [contract 10.rule]', async () => {
  const clock = new TestClock()
  const { a, call, start } = await twoNodes({ a: clock, b: clock })
  const open = async () => {
    const { incidents } = (await call(a, 'GET', '/incidents')).body
    return incidents.filter(
      ({ rule, resolvedAt }: Record<string, unknown>) => rule === 'certificate.expiring' && !resolvedAt,
    )
  }
  const { cert, key } = certificate(a, { lifetimeDays: 10 })
  // This node starts last, so the tasks of the organisation are at another one.
  const secure = await start({ tlsCert: cert, tlsKey: key }, clock)
  await until('the incident opens', async () => (await open()).length === 1, { timeoutMs: 30_000 })
  const [incident] = await open()
  expect(incident).toMatchObject({ severity: 'WARNING', state: 'OPEN' })
  await secure.close()
  clock.advance(2 * minuteMs)
  await until('the incident ends', async () => (await open()).length === 0, { timeoutMs: 30_000 })
})
