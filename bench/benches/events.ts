// Measures the cost of open event streams; the baseline is the same work without a stream.
import { copyFilledFolder, type FilledFolder } from '../fixture/data-folders.ts'
import { EventStreamClients } from '../load/event-streams.ts'
import { makeRequest } from '../load/http-load.ts'
import type { LoadResult } from '../load/load-result.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import { type Contender, cpuRow, measureInTurns, type Round } from '../measure/comparison.ts'
import { httpContender } from '../measure/http-comparison.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { type MeasuredServer, startServerOn } from '../servers/roomkeeper.ts'

/** All devices are connected, with one message in flight each. */
const deviceCount = 500
const streamCounts = [0, 1, 50]
const nameOf = (count: number) =>
  count === 0 ? 'no event stream' : count === 1 ? '1 event stream' : `${count} event streams`

interface StreamedServer {
  readonly name: string
  readonly folder: FilledFolder
  readonly server: MeasuredServer
  /** Waits until every stream has received so many more events. */
  readonly waitForEvents: (count: number) => Promise<unknown>
}

export const events: Bench = async (options) => {
  const { quick, profiles } = options
  const servers: StreamedServer[] = []
  for (const count of streamCounts) servers.push(await startWithStreams(options, count))
  const [rounds, slices] = quick ? [2, 2] : [5, 4]

  const sampleContenders = await Promise.all(servers.map((server) => makeSampleContender(options, server)))
  const sampleCount = deviceCount * slices * (quick ? 1 : 3)
  const sampleRounds = await measureInTurns(sampleContenders, { rounds, slices, count: sampleCount, profiles })
  const writeContenders = await Promise.all(servers.slice(0, 2).map((server) => makeWriteContender(options, server)))
  const writeRounds = await measureInTurns(writeContenders, { rounds, slices, count: quick ? 400 : 2_000, profiles })

  const makeRow = (title: string, contenders: readonly Contender[], results: Round[][], i: number) =>
    cpuRow(`${title}, ${contenders[i]?.name}`, [contenders[i], contenders[0]] as Contender[], [
      results[i] ?? [],
      results[0] ?? [],
    ])
  return [
    makeRow('durable QoS 1 sample', sampleContenders, sampleRounds, 1),
    makeRow('durable QoS 1 sample', sampleContenders, sampleRounds, 2),
    makeRow('regionsUpdate', writeContenders, writeRounds, 1),
  ]
}

/** Each number of streams has a server of its own, because a server that had a stream goes on storing events for resumption. */
async function startWithStreams({ cleanup, profiles }: BenchOptions, count: number): Promise<StreamedServer> {
  const name = nameOf(count)
  const folder = await copyFilledFolder(cleanup, deviceCount)
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags(name))
  if (count === 0) return { name, folder, server, waitForEvents: async () => {} }
  const path = `/v1/orgs/${folder.org}/events?types=sample,structure`
  const streams = await EventStreamClients.open(server.url, path, folder.key, count)
  cleanup.add(() => streams.close())
  let expected = 0
  const waitForEvents = (more: number) => {
    expected += more
    return streams.waitForEvents(expected)
  }
  return { name, folder, server, waitForEvents }
}

/**
 * Every device sends one sample, and the next when all streams have the event. The server merges samples of a device that
 * arrive within a tenth of a second into one event, and real devices are slower than that.
 */
async function makeSampleContender(
  { cleanup }: BenchOptions,
  { name, folder, server, waitForEvents }: StreamedServer,
): Promise<Contender> {
  const start = Math.floor(Date.now() / 1000) - 600
  const load = await MqttLoad.connect(server.mqttPort, folder.devices, (n) => start + n)
  cleanup.add(() => load.close())
  const sendOnce = async (): Promise<LoadResult> => {
    const result = await load.send(1)
    await waitForEvents(deviceCount)
    return result
  }
  for (let i = 0; i < 10; i++) await sendOnce()
  const send = async (count: number): Promise<LoadResult> => {
    const results: LoadResult[] = []
    while (results.length < count / deviceCount) results.push(await sendOnce())
    return {
      latenciesMs: Float64Array.from(results.flatMap(({ latenciesMs }) => [...latenciesMs])),
      seconds: results.reduce((sum, { seconds }) => sum + seconds, 0),
    }
  }
  return { name, process: server.process, send }
}

async function makeWriteContender(
  { cleanup }: BenchOptions,
  { name, folder, server, waitForEvents }: StreamedServer,
): Promise<Contender> {
  const { org, key } = folder
  const warmUpCount = 300
  let next = 0
  const request = () => makeRequest('PUT', `/v1/orgs/${org}/regions/1`, { key, body: { name: `Region ${next++}` } })
  const contender = await httpContender(cleanup, { ...server, name }, { request, warmUp: warmUpCount })
  await waitForEvents(warmUpCount)
  const send = async (count: number) => {
    const result = await contender.send(count)
    await waitForEvents(count)
    return result
  }
  return { ...contender, send }
}
