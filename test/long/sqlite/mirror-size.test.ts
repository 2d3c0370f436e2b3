// A gateway mirrors 800 devices, each in a room of its own: the requests per second, the time of a round, and the memory of the gateway.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { minuteMs } from '../../../src/contract/durations.ts'
import { newGatewayFolder } from '../../support/gateway/gateway-world.ts'
import { startHarness } from '../../support/harness.ts'
import { Program, startTimeoutMs, until } from '../../support/program.ts'

const deviceCount = 800
const roundMs = 15 * minuteMs

/** Plays Neat Pulse, and remembers when each path was requested. */
async function startUpstream() {
  const requests: { path: string; atMs: number }[] = []
  const ids = Array.from({ length: deviceCount }, (_, i) => `d0000000-0000-4000-8000-${String(i).padStart(12, '0')}`)
  const device = (id: string, i: number) => ({
    id,
    serial: `NB-SIZE-${i}`,
    model: 'NF19B1',
    connected: true,
    roomId: i + 1,
    roomName: `Room ${i}`,
    inCallStatus: 'NONE',
  })
  const details = (id: string, i: number) => ({
    ...device(id, i),
    networks: [{ type: 'NETWORK_TYPE_ETHERNET', linkUp: true, addresses: [], gateway: [] }],
    firmwareVersion: 'NFB1.20260401.0001',
    freeSystemStorage: '12000000000',
  })
  const answerTo = (path: string): unknown => {
    const seconds = Math.floor(Date.now() / 60_000) * 60
    const sample = { co2: 500, humidity: 40, illumination: 300, people: 2, temp: 21.5, voc: 300, vocIndex: 0 }
    if (path === '/endpoints') return { endpoints: ids.map(device) }
    if (path === '/endpoints/sensor')
      return { data: ids.map((id) => ({ id, endpointData: { data: [{ ...sample, timestamp: String(seconds) }] } })) }
    if (path === '/rooms') return { rooms: ids.map((_, i) => ({ id: i + 1, name: `Room ${i}` })) }
    if (path.endsWith('/config')) return { brightness: 0.5, nightMode: true, timezone: 'Europe/Oslo' }
    const [, kind = '', id = ''] = path.split('/')
    if (kind === 'endpoints') return details(id, ids.indexOf(id))
    if (kind === 'rooms') return { id: Number(id), endpoints: [details(ids[Number(id) - 1] as string, Number(id) - 1)] }
    return { [kind]: [] }
  }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^.*\/orgs\/[^/]+/, '')
    requests.push({ path, atMs: performance.now() })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answerTo(path)))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { requests, ids, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Now, and at its highest. */
const residentMiB = (pid: number): number[] => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return ['VmRSS', 'VmHWM'].map((name) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024)
}
/** 300 MB. */
const maxMiB = 286

test('800 devices are read with at most two requests a second, all within 15 minutes, by a gateway of at most 300 MB', async () => {
  const upstream = await startUpstream()
  const harness = await startHarness()
  try {
    const org = await harness.newOrg()
    const call = async (method: string, path: string, body?: object) => {
      const reply = await org.call(method, path, body && { body })
      expect(reply.status, reply.text).toBe(200)
      return reply.body
    }
    const connectedCount = async () => {
      const { endpoints } = await call('GET', '/endpoints')
      return endpoints.filter(({ connected }: { connected: boolean }) => connected).length
    }
    const room = await call('POST', '/rooms', { name: 'Everything' })
    const { origin } = new URL(harness.url)
    const args = ['--url', origin, '--code', room.dec, '--data-dir', newGatewayFolder(), '--reach', '127.0.0.1']
    const gateway = new Program(['gateway', ...args])
    onTestFinished(async () => void (await gateway.stop('SIGKILL')))
    const gatewayId = await until(
      'the gateway is online',
      async () => {
        const [found] = (await call('GET', '/gateways')).gateways
        return found?.state === 'ONLINE' && found.id
      },
      { timeoutMs: startTimeoutMs },
    )
    const source = { type: 'neat-pulse', gatewayId, url: upstream.url, orgId: 'aBcD123', key: 'correct horse' }
    const { id } = await call('POST', '/sources', source)
    await until('all are found', async () => (await call('GET', `/sources/${id}`)).devices.FOUND === deviceCount, {
      timeoutMs: startTimeoutMs,
    })
    for (let i = 0; i < deviceCount; i += 200) {
      const devices = upstream.ids.slice(i, i + 200).map((key) => ({ key, state: 'ADOPTED', roomId: room.id }))
      await call('PUT', `/sources/${id}/devices`, { devices })
    }
    await until('all are connected', async () => (await connectedCount()) === deviceCount + 1, {
      timeoutMs: 5 * minuteMs,
    })
    const startedAtMs = performance.now()
    await pause(roundMs)
    const wanted = upstream.ids.flatMap((key, i) => [`/endpoints/${key}/config`, `/rooms/${i + 1}`])
    const seen = new Set(upstream.requests.filter(({ atMs }) => atMs >= startedAtMs).map(({ path }) => path))
    const missing = wanted.filter((path) => !seen.has(path))
    const times = upstream.requests.map(({ atMs }) => atMs)
    const mostInTenSeconds = Math.max(
      ...times.map((from) => times.filter((at) => at >= from && at < from + 10_000).length),
    )
    const figures = {
      requests: times.length,
      perSecond: times.length / (((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1000),
      mostInTenSeconds,
      missing: missing.length,
      gatewayMiB: residentMiB(gateway.pid),
      connectedCount: await connectedCount(),
    }
    process.stdout.write(`${JSON.stringify(figures)}\n`)
    expect(figures.perSecond).toBeLessThanOrEqual(2)
    // The upstream is in the process of the test, and reads some requests late.
    expect(mostInTenSeconds).toBeLessThanOrEqual(22)
    expect(missing).toEqual([])
    expect(Math.max(...figures.gatewayMiB)).toBeLessThanOrEqual(maxMiB)
    expect(figures.connectedCount).toBe(deviceCount + 1)
  } finally {
    await harness.close()
  }
})
