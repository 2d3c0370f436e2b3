// Measures the same work with 1,000, 10,000 and 100,000 endpoints; the smallest size is the baseline.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Services } from '../../src/server/context/services.ts'
import { slots } from '../../src/server/core/time/slots.ts'
import { sampleRowOf, sampleRulesOf } from '../../src/server/sensors/ingest/check.ts'
import { insertSamples, updateLatest, valuesOf } from '../../src/server/sensors/ingest/store.ts'
import { copyFilledFolder, type FilledFolder } from '../fixture/data-folders.ts'
import { deviceModel, type Organisation } from '../fixture/organisation.ts'
import { makeBenchSample } from '../fixture/samples.ts'
import { withServices } from '../fixture/services.ts'
import { makeRequest } from '../load/http-load.ts'
import { MqttLoad } from '../load/mqtt-load.ts'
import type { Contender } from '../measure/comparison.ts'
import type { Row } from '../measure/figures.ts'
import { httpContender } from '../measure/http-comparison.ts'
import { compareSizes, roundCount } from '../measure/size-comparison.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { type MeasuredServer, startServerOn } from '../servers/roomkeeper.ts'
import { measureAuditLogGrowth } from './growth-audit-log.ts'

const sizes = [1_000, 10_000, 100_000]
/** At every size, so many devices are connected and send, with one message in flight each. */
const deviceCount = 200
/** A quick run requests only so many resources, from all over the organisation. */
const maxQuickPaths = 2_000

interface SizedServer {
  readonly name: string
  readonly folder: FilledFolder
  readonly server: MeasuredServer
}

export const growth: Bench = async (options) => {
  const servers: SizedServer[] = []
  for (const size of sizes) servers.push(await startSized(options, size))
  const requests = options.quick ? 2_000 : 12_000
  const endpoints = await makeReaders(options, servers, ({ devices }) => devices.map(({ id }) => `endpoints/${id}`))
  const rows = await compareSizes('endpointsGet', endpoints, options, requests)
  const rooms = await makeReaders(options, servers, ({ rooms }) => rooms.map((id) => `rooms/${id}`))
  rows.push(...(await compareSizes('roomsGet', rooms, options, requests)))
  rows.push(...(await measureSamples(options, servers)))
  for (const { server } of servers) await server.process.stop()
  return [...rows, ...(await measureAuditLogGrowth(options))]
}

async function startSized({ cleanup, profiles }: BenchOptions, size: number): Promise<SizedServer> {
  const name = `${size.toLocaleString('en')} endpoints`
  const folder = await copyFilledFolder(cleanup, size)
  await withServices(folder.dataDir, (services) => fillLatest(services, folder.organisation))
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags(name))
  return { name, folder, server }
}

/** Writes one sample of every endpoint, measured an hour ago. */
async function fillLatest({ db }: Services, { org, devices }: Organisation): Promise<void> {
  const hourAgo = Math.floor(Date.now() / 1000) - 3600
  const rules = sampleRulesOf(deviceModel, { named: null, measured: 0, isPresenceOnly: false })
  const samples = devices.map((_, i) => ({ endpoint: i + 1, row: sampleRowOf(makeBenchSample(i + 1, hourAgo), rules) }))
  await db.systemTransaction(async (tx) => {
    await insertSamples(
      tx,
      samples.map(({ endpoint, row }) => valuesOf(row, org.key, slots.at(hourAgo), endpoint)),
    )
    await updateLatest(
      tx,
      samples.map(({ endpoint, row }) => valuesOf(row, org.key, endpoint)),
    )
  })
}

/** Each reader requests all paths in random order, which no index has. All of them are requested once to warm up. */
async function makeReaders(
  { quick, cleanup }: BenchOptions,
  servers: readonly SizedServer[],
  pathsOf: (organisation: Organisation) => readonly string[],
): Promise<Contender[]> {
  const readers: Contender[] = []
  // The largest is first: during its long warm-up the server would close the idle connections of the others.
  for (const { name, folder, server } of servers.toReversed()) {
    const { org, key, organisation } = folder
    const paths = shuffle(pathsOf(organisation)).slice(0, quick ? maxQuickPaths : undefined)
    let next = 0
    const request = () => makeRequest('GET', `/v1/orgs/${org}/${paths[next++ % paths.length]}`, { key })
    const warmUp = Math.max(paths.length, quick ? 2_000 : 20_000)
    readers.push(await httpContender(cleanup, { ...server, name }, { request, warmUp }))
  }
  return readers.toReversed()
}

function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

async function measureSamples(options: BenchOptions, servers: readonly SizedServer[]): Promise<Row[]> {
  const { quick, cleanup } = options
  const warmUp = quick ? 15 : 40
  /** Samples are a second apart and recent, so hardly any rollup is made during the measurement. */
  const start = Math.floor(Date.now() / 1000) - 600
  const contenders: Contender[] = []
  for (const { name, folder, server } of servers) {
    const { devices } = folder.organisation
    // Devices that are spread evenly write to as many pages as those of a real fleet.
    const senders = Array.from(
      { length: deviceCount },
      (_, i) => devices[(i * devices.length) / deviceCount] as (typeof devices)[0],
    )
    const load = await MqttLoad.connect(server.mqttPort, senders, (n) => start + n)
    cleanup.add(() => load.close())
    await load.send(warmUp)
    contenders.push({ name, process: server.process, send: (count) => load.send(count / deviceCount) })
  }
  const [slices, samplesPerDevice] = [4, quick ? 5 : 10]
  const count = slices * samplesPerDevice * deviceCount
  const rows = await compareSizes('durable QoS 1 sample', contenders, options, count)
  for (const { folder } of servers) {
    expectSamples(folder, (warmUp + roundCount(quick) * slices * samplesPerDevice) * deviceCount)
  }
  return rows
}

/** Every acknowledged sample must be in the database, in addition to the one that was written directly for each endpoint. */
function expectSamples({ dataDir, organisation }: FilledFolder, sent: number): void {
  const db = new Database(join(dataDir, 'roomkeeper.db'), { readonly: true })
  const { stored } = db.prepare('select count(*) as stored from samples').get() as { stored: number }
  db.close()
  const expected = organisation.devices.length + sent
  if (stored !== expected) throw new Error(`${expected} samples were written, but ${stored} are stored.`)
}
