// Measures health checks and useful work while a server gets more requests than it can answer.
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { connectionFloodFile } from './connection-flood.ts'
import { mainThreadTimes } from './cpu-time.ts'
import { type Flood, type Flooded, floodFile, percentile } from './flood.ts'
import { send } from './harness.ts'
import type { Server, Site } from './program.ts'

interface ProbeTime {
  readonly ms: number
  /** The CPU time of the server's event loop in between: the work that it put before this request. */
  readonly workMs: number
}

/** Times a request over a connection of its own, as balancers send their health checks. */
export const probe = (url: string, path: string, pid: number) =>
  new Promise<ProbeTime>((resolve, reject) => {
    const started = performance.now()
    const { ranMs } = mainThreadTimes(pid)
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    })
    let answer = ''
    socket.on('data', (piece) => {
      answer += piece
    })
    socket.on('error', reject)
    socket.on('close', () => {
      if (answer.startsWith('HTTP/1.1 200 ')) {
        const ms = performance.now() - started
        resolve({ ms, workMs: Math.min(ms, mainThreadTimes(pid).ranMs - ranMs) })
      } else reject(new Error(`${path}: ${answer}`))
    })
  })

interface ProbeTarget {
  readonly url: string
  readonly path: string
  readonly pid: number
}

/** Sends a probe at every interval, whether or not those before it were answered. */
async function probeFor(seconds: number, { url, path, pid }: ProbeTarget, everyMs: number): Promise<ProbeTime[]> {
  const probes: Promise<ProbeTime>[] = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await pause(everyMs)) {
    probes.push(probe(url, path, pid))
  }
  return Promise.all(probes)
}

const flood = async (
  { url, path, key, connections, ahead, seconds }: Flood,
  onUnderWay: () => void,
): Promise<Flooded> => {
  const args = [floodFile, url, path, key, ...[connections, ahead, seconds].map(String)]
  const running = promisify(execFile)(process.execPath, args)
  running.child.stdout?.once('data', onUnderWay)
  return JSON.parse((await running).stdout.split('\n').at(-1) ?? '')
}

export interface ProbeTimes {
  readonly port: 'api' | 'health'
  readonly path: string
  readonly p50Ms: number
  readonly p99Ms: number
  /** The work that the server put before the probe. Other programs on the machine do not increase it. */
  readonly p50WorkMs: number
  readonly p99WorkMs: number
}

export interface ConnectionFlood {
  readonly probes: readonly ProbeTimes[]
  /** Connections that were accepted and answered in a second. */
  readonly perSecond: number
}

export interface OverloadFigures {
  readonly probes: readonly ProbeTimes[]
  /**
   * Answers under the flood, as a part of those without it: by time or by CPU time of the server, the larger of the two. Other programs
   * on the machine lower the first, and refusals that the server sends while it waits for PostgreSQL lower the second.
   */
  readonly usefulWork: number
  /**
   * Requests that were answered or refused with the same CPU time under the flood, as a part of those without it. Unlike useful work it
   * does not depend on other programs: the more CPU they take, the more requests wait for 500 ms and must be refused.
   */
  readonly handledWork: number
  /** The work that the server put before a /livez on the port of the API right after the flood. */
  readonly afterwardsWorkMs: number
  /** Milliseconds after the flood until at least 80 % of the possible work was done for a second. Infinite if that was not measured. */
  readonly normalAfterMs: number
}

async function probePorts(
  { url, pid }: Server,
  healthPort: string | undefined,
  seconds: number,
): Promise<ProbeTimes[]> {
  const targets = (['/livez', '/readyz', '/metrics'] as const).flatMap((path) => [
    { port: 'api' as const, url, path, pid },
    { port: 'health' as const, url: `http://127.0.0.1:${healthPort}`, path, pid },
  ])
  return Promise.all(
    targets.map(async (target) => {
      const times = await probeFor(seconds, target, target.path === '/metrics' ? 250 : 50)
      const of = (part: keyof ProbeTime, percent: number) =>
        Math.round(
          percentile(
            times.map((time) => time[part]),
            percent,
          ),
        )
      return {
        port: target.port,
        path: target.path,
        p50Ms: of('ms', 50),
        p99Ms: of('ms', 99),
        p50WorkMs: of('workMs', 50),
        p99WorkMs: of('workMs', 99),
      }
    }),
  )
}

/** Probes a new server while clients open connections as fast as they are answered. */
export async function measureConnectionFlood(site: Site, seconds: number, clients: number): Promise<ConnectionFlood> {
  const server = await site.serve('--rate-limit', '0', '--auth-failure-limit', '0', '--health-port', '0')
  const [, healthPort] = await server.printed(/"healthPort":(\d+)/, 'stderr')
  const args = [connectionFloodFile, server.url, `${clients}`, `${seconds + 2}`]
  const flooding = promisify(execFile)(process.execPath, args)
  await pause(1000)
  const probes = await probePorts(server, healthPort, seconds)
  return { probes, perSecond: Number((await flooding).stdout) }
}

/** The flood is followed by this many measurements of a second until work is normal. */
const maxRecoverySeconds = 20

/** Floods a new server for some seconds, with 20 times as many connections as it answers without waiting. */
export async function measureOverload(
  site: Site,
  seconds: number,
  { connections = 300, hasRecovery = true } = {},
): Promise<OverloadFigures> {
  const server = await site.serve('--rate-limit', '0', '--health-port', '0')
  const { url, org, key } = server
  const [, healthPort] = await server.printed(/"healthPort":(\d+)/, 'stderr')
  /** By then the queue of the server is full. */
  const headStartSeconds = Math.min(3, seconds)
  const path = `/v1/orgs/${org}/regions`
  for (let i = 0; i < 40; i++) await send(url, 'POST', path, { key, body: { name: `Region ${i}` } })
  const serve = async (load: Omit<Flood, 'url' | 'path' | 'key'>, onUnderWay = () => {}) => {
    const cpu = async () =>
      Number(/^process_cpu_seconds_total (\S+)$/m.exec((await send(url, 'GET', '/metrics')).text)?.[1])
    const before = await cpu()
    const { perSecond, accepted, seconds } = await flood({ url, path, key, ...load }, onUnderWay)
    expect(accepted).toBe(load.connections)
    const cpuShare = ((await cpu()) - before) / seconds
    const answers = perSecond['200'] ?? 0
    const handled = Object.values(perSecond).reduce((sum, count) => sum + count, 0)
    return { perSecond: answers, perCpuSecond: answers / cpuShare, handledPerCpuSecond: handled / cpuShare }
  }
  await serve({ connections: 20, ahead: 1, seconds: Math.min(2, seconds / 2) })
  const possible = await serve({ connections: 20, ahead: 1, seconds: Math.min(3, seconds) })
  const underWay = Promise.withResolvers<void>()
  const flooding = serve({ connections, ahead: 4, seconds: seconds + headStartSeconds + 1 }, underWay.resolve)
  await Promise.race([underWay.promise, flooding])
  await pause(headStartSeconds * 1000)
  const probes = await probePorts(server, healthPort, seconds)
  const flooded = await flooding
  const usefulWork = Math.max(flooded.perSecond / possible.perSecond, flooded.perCpuSecond / possible.perCpuSecond)
  const handledWork = flooded.handledPerCpuSecond / possible.handledPerCpuSecond
  const endedAt = performance.now()
  const { workMs: afterwardsWorkMs } = await probe(url, '/livez', server.pid)
  let isNormal = false
  for (let i = 0; hasRecovery && i < maxRecoverySeconds && !isNormal; i++) {
    isNormal = (await serve({ connections: 20, ahead: 1, seconds: 1 })).perSecond >= 0.8 * possible.perSecond
  }
  const normalAfterMs = isNormal ? Math.round(performance.now() - endedAt) : Number.POSITIVE_INFINITY
  return { probes, usefulWork, handledWork, afterwardsWorkMs, normalAfterMs }
}

export const overloadText = ({ probes, usefulWork, normalAfterMs }: OverloadFigures): string =>
  `under overload: ${Math.round(usefulWork * 100)} % useful work, normal after ${normalAfterMs} ms; ${probesText(probes)}`

export const connectionFloodText = ({ probes, perSecond }: ConnectionFlood): string =>
  `under a flood of connections: ${perSecond} a second; ${probesText(probes)}`

const probesText = (probes: readonly ProbeTimes[]): string =>
  probes
    .map(({ port, path, p50Ms, p99Ms }) => `${path} on the ${port} port p50 ${p50Ms} ms, p99 ${p99Ms} ms`)
    .join('; ')
