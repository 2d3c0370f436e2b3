// More requests than can be answered: health checks come first, those that waited for too long are refused, and then all is well again. [contract 7.23]
import { Agent } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { threadCpuMs } from '../support/cpu-time.ts'
import { startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { connectionFloodText, measureConnectionFlood, measureOverload, overloadText } from '../support/overload.ts'
import { siteForTest } from '../support/program.ts'
import { rawFetch } from '../support/raw-http.ts'

test('a request that waited for more than 500 ms is a 503 with Retry-After; health checks do not wait', async () => {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i + 1, name: `${i}`.padEnd(1000, 'x'), version: 1 }))
    for (let at = 0; at < rows.length; at += 100) {
      const some = rows.slice(at, at + 100).map((row) => ({ org: org.org.key, ...row }))
      await kysely.insertInto('regions').values(some).execute()
    }
  })
  const ask = (path: string, agent: Agent) => rawFetch(harness.url + path, org.key, { agent })
  const list = `/v1/orgs/${org.id}/regions`
  const newAgent = () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    return agent
  }
  const first = newAgent()
  await ask(list, first)
  const began = performance.now()
  const cpuBefore = threadCpuMs()
  for (let i = 0; i < 10; i++) await ask(list, first)
  // So many requests that they take so much CPU together, however fast or busy the machine is.
  const togetherMs = isFullForm ? 2000 : 1200
  const count = Math.min(2000, Math.max(150, Math.ceil((10 * togetherMs) / (threadCpuMs() - cpuBefore))))
  // Every connection is accepted before it begins.
  const agents = Array.from({ length: count + 3 }, newAgent)
  await Promise.all(agents.map((agent) => ask('/livez', agent)))
  const [livez, readyz, metrics, ...others] = agents as [Agent, Agent, Agent, ...Agent[]]
  let answered = 0
  const asked = others.map((agent) => ask(list, agent).finally(() => answered++))
  await Promise.race(asked)
  const health = [ask('/livez', livez), ask('/readyz', readyz), ask('/metrics', metrics)]
  for (const { status, waitedFor } of await Promise.all(
    health.map(async (answer) => ({ status: (await answer).status, waitedFor: answered })),
  )) {
    expect(status).toBe(200)
    expect(waitedFor).toBeLessThan(asked.length / 2)
  }
  const answers = await Promise.all(asked)
  const refused = answers.filter(({ status }) => status === 503)
  expect(answers.filter(({ status }) => status === 200).length + refused.length).toBe(asked.length)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.length).toBeLessThan(asked.length)
  for (const { headers, bytes } of refused) {
    const body = JSON.parse(bytes.toString())
    expect(headers).toMatchObject({ 'retry-after': '1', 'x-request-id': body.requestId })
    expect(body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  }
  const { text } = await harness.call('GET', '/metrics')
  expect(text).toContain(`roomkeeper_http_overload_refused_total ${refused.length}\n`)
  // One line in ten seconds, however many are refused.
  const lines = harness.logged.filter(({ msg }) => /^overloaded/.test(`${msg}`)).length
  expect(lines).toBeGreaterThan(0)
  expect(lines).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 10_000) + 1)
  expect(harness.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  expect((await ask(list, livez)).status).toBe(200)
})

test('under a flood health checks over new connections are quick, and a request takes at most twice the CPU, answered or refused', async () => {
  const figures = await measureOverload(await siteForTest(), isFullForm ? 5 : 1, { hasRecovery: isFullForm })
  process.stdout.write(`${overloadText(figures)}\n`)
  expect(figures.handledWork).toBeGreaterThan(0.5)
  // Beside other tests the elapsed times differ from docs/reliability.md; the work that comes first does not. Without the queue it took 10 seconds.
  for (const { path, p50WorkMs, p99WorkMs } of figures.probes) {
    expect(p50WorkMs, path).toBeLessThan(300)
    expect(p99WorkMs, path).toBeLessThan(1000)
  }
  expect(figures.afterwardsWorkMs).toBeLessThan(500)
})

// The flood of requests above has connections of its own for each health check, on both ports too.
test.runIf(isFullForm)('under a flood of connections the health port is quicker than the port of the API', async () => {
  const figures = await measureConnectionFlood(await siteForTest(), 2, 300)
  process.stdout.write(`${connectionFloodText(figures)}\n`)
  expect(figures.perSecond).toBeGreaterThan(0)
  const p50Of = (wanted: string) => figures.probes.find(({ port, path }) => port === wanted && path === '/livez')?.p50Ms
  expect(p50Of('health')).toBeLessThan(p50Of('api') ?? 0)
})
