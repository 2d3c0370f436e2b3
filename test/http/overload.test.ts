// More requests than can be answered: health checks come first, those that waited for too long are refused, and then all is well again. [contract 7.23]
import { execFile } from 'node:child_process'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { type Flood, type Flooded, floodFile, percentile } from '../support/flood.ts'
import { send, startHarness } from '../support/harness.ts'
import { siteForTest } from '../support/program.ts'
import { rawFetch } from '../support/raw-http.ts'

/** Milliseconds of a request over a connection of its own, as balancers send their health checks. */
const probe = (url: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const started = performance.now()
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })
    let answer = ''
    socket.on('data', (piece) => {
      answer += piece
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (answer.startsWith('HTTP/1.1 200 ')) resolve(performance.now() - started)
      else reject(new Error(`${path}: ${answer}`))
    })
  })

/** One every 50 ms, whether or not those before it were answered. */
async function probeFor(seconds: number, url: string, path: string): Promise<number[]> {
  const probes: Promise<number>[] = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(50)) {
    probes.push(probe(url, path))
  }
  return Promise.all(probes)
}

const flood = async ({ url, path, key, connections, ahead, seconds }: Flood): Promise<Flooded> => {
  const args = [floodFile, url, path, key, ...[connections, ahead, seconds].map(String)]
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
}

test('a request that waited for more than 500 ms is a 503 with Retry-After; health checks do not wait', async () => {
  const house = await startHarness()
  onTestFinished(() => house.close())
  const org = await house.newOrg()
  await house.services.db.systemTransaction(async ({ kysely }) => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i + 1, name: `${i}`.padEnd(1000, 'x'), version: 1 }))
    for (let at = 0; at < rows.length; at += 100) {
      const some = rows.slice(at, at + 100).map((row) => ({ org: org.org.key, ...row }))
      await kysely.insertInto('regions').values(some).execute()
    }
  })
  const ask = (path: string, agent: Agent) => rawFetch(house.url + path, org.key, { agent })
  const list = `/v1/orgs/${org.id}/regions`
  // Every connection is accepted before it begins.
  const agents = Array.from({ length: 303 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  onTestFinished(() => {
    for (const agent of agents) agent.destroy()
  })
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
  const { text } = await house.call('GET', '/metrics')
  expect(text).toContain(`roomkeeper_http_overload_refused_total ${refused.length}\n`)
  expect(house.logged.filter(({ msg }) => /^overloaded/.test(`${msg}`))).toHaveLength(1)
  expect(house.logged.filter(({ level }) => Number(level) >= 50)).toEqual([])
  expect((await ask(list, livez)).status).toBe(200)
})

test('under a flood health checks over new connections are quick, and most of the work is useful', async () => {
  const site = await siteForTest()
  const { url, org, key } = await site.serve('--rate-limit', '0')
  const path = `/v1/orgs/${org}/regions`
  for (let i = 0; i < 40; i++) await send(url, 'POST', path, { key, body: { name: `Region ${i}` } })
  /** By the CPU of the server: other programs on the machine do not make it less. */
  const answersPerCpuSecond = async (load: Omit<Flood, 'url' | 'path' | 'key'>) => {
    const cpu = async () =>
      Number(/^process_cpu_seconds_total (\S+)$/m.exec((await send(url, 'GET', '/metrics')).text)?.[1])
    const before = await cpu()
    const { perSecond, accepted } = await flood({ url, path, key, ...load })
    expect(accepted).toBe(load.connections)
    return ((perSecond['200'] ?? 0) * load.seconds) / ((await cpu()) - before)
  }
  await answersPerCpuSecond({ connections: 20, ahead: 1, seconds: 2 })
  const possible = await answersPerCpuSecond({ connections: 20, ahead: 1, seconds: 3 })
  const flooding = answersPerCpuSecond({ connections: 300, ahead: 4, seconds: 9 })
  await pause(3000)
  const probes = await probeFor(5, url, '/livez')
  expect(await flooding).toBeGreaterThan(possible / 2)
  // docs/operations.md has the figures of a quiet machine. Beside other tests, and without the queue, it took 10 seconds.
  expect(percentile(probes, 50)).toBeLessThan(500)
  expect(percentile(probes, 99)).toBeLessThan(2000)
  expect(await probe(url, '/livez')).toBeLessThan(1000)
}, 60_000)
