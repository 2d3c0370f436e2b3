// Measures a start with 100,000 endpoints against one with none, and the memory of an idle server against Fastify.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../src/server/context/services.ts'
import { isConnected } from '../../src/server/nodes/presence-sql.ts'
import { insertNode } from '../../src/server/nodes/store.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { withServices } from '../fixture/services.ts'
import { atMost, interleave, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench } from '../options.ts'
import { startBare } from '../servers/bare.ts'
import { type MeasuredServer, startServer } from '../servers/roomkeeper.ts'

const endpointCount = 100_000
/** A start with these endpoints may take so much longer than one without. */
const maxExtraSeconds = 2
/** A start that finds all endpoints connected may take so much more CPU than one that finds none connected. */
const maxCrashRatio = 1.1

/** Time until the server is ready. */
interface StartTime {
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

export const start: Bench = async (options) => {
  const { quick, cleanup } = options
  const rounds = quick ? 2 : 5
  const idleMs = quick ? 300 : 2000
  const filled = await copyFilledFolder(cleanup, endpointCount)
  const empty = await copyFilledFolder(cleanup, 0)

  const memoryMiB: { ours: number[]; baseline: number[] } = { ours: [], baseline: [] }
  const starts = await interleave(
    rounds,
    () => measureStart(filled.dataDir, (server) => server.process.stop()),
    () =>
      measureStart(empty.dataDir, async (server) => {
        const fastify = await startBare(options, 'Fastify', ['fastify.js'])
        await sleep(idleMs)
        memoryMiB.ours.push(server.process.residentBytes() / 2 ** 20)
        memoryMiB.baseline.push(fastify.process.residentBytes() / 2 ** 20)
        await fastify.process.stop()
        await server.process.stop()
      }),
  )
  await withServices(filled.dataDir, expectAllDisconnected)
  const afterCrash = await interleave(
    rounds,
    () => measureStartAfterCrash(filled.dataDir),
    () => measureStart(filled.dataDir, (server) => server.process.stop()),
  )
  const startRow = (title: string, unit: string, value: (start: StartTime) => number): Row =>
    compareStarts(title, unit, starts, 'empty database', value)
  const extra = summarise(
    starts.ours.map(({ wallSeconds }, i) => wallSeconds - (starts.baseline[i]?.wallSeconds ?? Number.NaN)),
  )
  const title = `start to ready with ${endpointCount.toLocaleString('en')} endpoints`
  const memoryRatio = ratioByRound(memoryMiB.ours, memoryMiB.baseline)
  return [
    {
      ...startRow(title, 's', ({ wallSeconds }) => wallSeconds),
      goal: { text: `under ${maxExtraSeconds} s longer`, isMet: extra.median < maxExtraSeconds },
      note: `The difference is ${twoDecimals(extra.median)} s (${twoDecimals(extra.min)} to ${twoDecimals(extra.max)}).`,
    },
    startRow(title, 's CPU', ({ cpuSeconds }) => cpuSeconds),
    ...crashRows(`${title}, after a crash with all of them connected`, afterCrash),
    {
      title: 'memory of an idle server without endpoints',
      unit: 'MiB',
      ours: summarise(memoryMiB.ours),
      baseline: { name: 'Fastify with one route', figure: summarise(memoryMiB.baseline) },
      ratio: memoryRatio,
      goal: atMost(memoryRatio, 2),
    },
  ]
}

/** Writes a rounded zero without a minus sign. */
const twoDecimals = (seconds: number): string => (Math.round(seconds * 100) / 100 || 0).toFixed(2)

async function measureStart(
  dataDir: string,
  whenReady: (server: MeasuredServer) => Promise<unknown>,
): Promise<StartTime> {
  const startedAt = performance.now()
  const server = await startServer(dataDir)
  const time = { wallSeconds: (performance.now() - startedAt) / 1000, cpuSeconds: server.process.cpuSeconds() }
  await whenReady(server)
  return time
}

interface Starts {
  readonly ours: readonly StartTime[]
  readonly baseline: readonly StartTime[]
}

function compareStarts(
  title: string,
  unit: string,
  { ours, baseline }: Starts,
  baselineName: string,
  value: (start: StartTime) => number,
): Row {
  return {
    title,
    unit,
    ours: summarise(ours.map(value)),
    baseline: { name: baselineName, figure: summarise(baseline.map(value)) },
    ratio: ratioByRound(ours.map(value), baseline.map(value)),
  }
}

/** The goal is for CPU time: the time of a start depends on what else the machine does. */
function crashRows(title: string, starts: Starts): Row[] {
  const cpu = compareStarts(title, 's CPU', starts, 'after a stop', ({ cpuSeconds }) => cpuSeconds)
  return [
    compareStarts(title, 's', starts, 'after a stop', ({ wallSeconds }) => wallSeconds),
    { ...cpu, ...(cpu.ratio && { goal: atMost(cpu.ratio, maxCrashRatio) }) },
  ]
}

/** The start finds every endpoint connected to a node that is up, as after a crash. */
async function measureStartAfterCrash(dataDir: string): Promise<StartTime> {
  await withServices(dataDir, connectAll)
  const time = await measureStart(dataDir, (server) => server.process.stop())
  await withServices(dataDir, expectAllDisconnected)
  return time
}

/** Leaves the database as a crash does: a node that is up, with all endpoints. */
async function connectAll({ db }: Services): Promise<void> {
  await db.systemTransaction(async (on) => {
    const node = await insertNode(on, { name: 'crashed', process: 'crashed', version: '0', at: Date.now() })
    await on.kysely
      .updateTable('endpoints')
      .set({ node_id: node?.id ?? null })
      .execute()
  })
}

/** The start must have found all endpoints and ended the node that they were connected to. */
async function expectAllDisconnected({ db }: Services): Promise<void> {
  const { total, connected } = await db.system.kysely
    .selectFrom('endpoints as e')
    .leftJoin('nodes as d', 'd.id', 'e.node_id')
    .select(({ fn }) => [fn.countAll<number>().as('total'), fn.sum<number>(isConnected).as('connected')])
    .executeTakeFirstOrThrow()
  if (total !== endpointCount || connected !== 0) {
    throw new Error(`The database has ${total} endpoints, ${connected} of them connected, after a start.`)
  }
}
