// Measures a start with 100,000 endpoints against one with none, and the memory of an idle server against Fastify.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Services } from '../../src/server/context/services.ts'
import { isConnected } from '../../src/server/nodes/connected-sql.ts'
import { insertNode } from '../../src/server/nodes/store.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { withServices } from '../fixture/services.ts'
import { atMost, interleave, type Row, ratioByRound, summarise } from '../measure/figures.ts'
import type { Bench } from '../options.ts'
import { startBare } from '../servers/bare.ts'
import { type Server, startServer } from '../servers/roomkeeper.ts'

const endpointCount = 100_000
/** A start with these endpoints may take so much longer than one without. */
const maxExtraSeconds = 2

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
  const afterCrash = quick ? [] : await measureStartsAfterCrash(filled.dataDir, 3)
  const startRow = (title: string, unit: string, value: (start: StartTime) => number): Row => ({
    title,
    unit,
    ours: summarise(starts.ours.map(value)),
    baseline: { name: 'empty database', figure: summarise(starts.baseline.map(value)) },
    ratio: ratioByRound(starts.ours.map(value), starts.baseline.map(value)),
  })
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
    ...(quick
      ? []
      : [{ title: `${title}, after a crash with all endpoints connected`, unit: 's', ours: summarise(afterCrash) }]),
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

async function measureStart(dataDir: string, whenReady: (server: Server) => Promise<unknown>): Promise<StartTime> {
  const startedAt = performance.now()
  const server = await startServer(dataDir)
  const time = { wallSeconds: (performance.now() - startedAt) / 1000, cpuSeconds: server.process.cpuSeconds() }
  await whenReady(server)
  return time
}

/** Returns the seconds of starts that find every endpoint marked as connected, as after a crash. */
async function measureStartsAfterCrash(dataDir: string, count: number): Promise<number[]> {
  const seconds: number[] = []
  for (let i = 0; i < count; i++) {
    await withServices(dataDir, connectAll)
    seconds.push((await measureStart(dataDir, (server) => server.process.stop())).wallSeconds)
    await withServices(dataDir, expectAllDisconnected)
  }
  return seconds
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
