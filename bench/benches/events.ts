// What it costs that somebody follows the events of an organisation, beside the same work when nobody does.
import type { Bench, BenchOptions } from '../bench.ts'
import { type Filled, filledFolder } from '../fixture/data-folders.ts'
import { Followers } from '../load/event-streams.ts'
import { requestOf } from '../load/http-load.ts'
import { Load } from '../load/mqtt-load.ts'
import { costLine, type Run, type Side, takeTurns } from '../measure/comparison.ts'
import { httpSide } from '../measure/http-comparison.ts'
import { serveHouse } from '../servers/filled-server.ts'
import type { Server } from '../servers/roomkeeper.ts'

/** All of them connected, with one message in flight each. */
const fleet = 500
const following = [0, 1, 50]
const nameOf = (count: number) => (count === 0 ? 'nobody follows' : count === 1 ? 'one follower' : `${count} followers`)

interface Followed {
  readonly name: string
  readonly filled: Filled
  readonly server: Server
  /** Waits until every follower has so many more events. */
  readonly told: (events: number) => Promise<unknown>
}

export const events: Bench = async (options) => {
  const { quick, profiles } = options
  const all: Followed[] = []
  for (const count of following) all.push(await open(options, count))
  const [rounds, slices] = quick ? [2, 2] : [5, 4]

  const sending = await Promise.all(all.map((one) => sampleSide(options, one)))
  const samples = await takeTurns(sending, { rounds, slices, count: fleet * slices * (quick ? 1 : 3), profiles })
  const writing = await Promise.all(all.slice(0, 2).map((one) => writeSide(options, one)))
  const writes = await takeTurns(writing, { rounds, slices, count: quick ? 400 : 2_000, profiles })

  const lineOf = (what: string, sides: readonly Side[], done: typeof samples, i: number) =>
    costLine(`${what}, ${sides[i]?.name}`, [sides[i], sides[0]] as Side[], [done[i] ?? [], done[0] ?? []])
  return [
    lineOf('a durable QoS 1 sample', sending, samples, 1),
    lineOf('a durable QoS 1 sample', sending, samples, 2),
    lineOf('regionsUpdate', writing, writes, 1),
  ]
}

/** A server for each number of followers: one that had any goes on keeping events for those who come back. */
async function open({ ending, profiles }: BenchOptions, count: number): Promise<Followed> {
  const name = nameOf(count)
  const filled = await filledFolder(ending, fleet)
  const server = await serveHouse(ending, filled, profiles.flags(name))
  if (count === 0) return { name, filled, server, told: async () => {} }
  const followers = await Followers.connect(
    server.url,
    `/v1/orgs/${filled.org}/events?types=sample,structure`,
    filled.key,
    count,
  )
  ending.add(() => followers.close())
  let expected = 0
  const told = (events: number) => {
    expected += events
    return followers.until(expected)
  }
  return { name, filled, server, told }
}

/**
 * One sample of each device, then the next when everybody was told: of what a device says within a tenth of a second followers get
 * the last, and devices are not that quick.
 */
async function sampleSide({ ending }: BenchOptions, { name, filled, server, told }: Followed): Promise<Side> {
  const start = Math.floor(Date.now() / 1000) - 600
  const load = await Load.connect(server.mqttPort, filled.devices, (n) => start + n)
  ending.add(() => load.close())
  const once = async (): Promise<Run> => {
    const run = await load.send(1)
    await told(fleet)
    return run
  }
  for (let i = 0; i < 10; i++) await once()
  const send = async (count: number): Promise<Run> => {
    const runs: Run[] = []
    while (runs.length < count / fleet) runs.push(await once())
    return {
      latencies: Float64Array.from(runs.flatMap(({ latencies }) => [...latencies])),
      seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0),
    }
  }
  return { name, child: server.child, send }
}

async function writeSide({ ending }: BenchOptions, { name, filled, server, told }: Followed): Promise<Side> {
  const { org, key } = filled
  const warmUp = 300
  let next = 0
  const request = () => requestOf('PUT', `/v1/orgs/${org}/regions/1`, { key, body: { name: `Region ${next++}` } })
  const side = await httpSide(ending, { ...server, name }, { request, warmUp })
  await told(warmUp)
  const send = async (count: number) => {
    const run = await side.send(count)
    await told(count)
    return run
  }
  return { ...side, send }
}
