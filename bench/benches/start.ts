// A start with 100,000 endpoints beside one with none, and what an idle server keeps in memory beside Fastify alone.
import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../../src/platform/by.ts'
import type { Bench } from '../bench.ts'
import { filledFolder } from '../fixture/data-folders.ts'
import { withGround } from '../fixture/samples.ts'
import { atMost, figure, interleave, type Line, ratios } from '../measure/figures.ts'
import { bareChild } from '../measure/http-comparison.ts'
import { type Server, startServer } from '../servers/roomkeeper.ts'

const endpoints = 100_000
/** Seconds that a start may take longer with them. */
const mostMore = 2

interface Start {
  /** Seconds until it is ready: by the clock, and of CPU. */
  readonly wall: number
  readonly cpu: number
}

export const start: Bench = async (options) => {
  const { quick, ending } = options
  const rounds = quick ? 2 : 5
  const settled = quick ? 300 : 2000
  const full = await filledFolder(ending, endpoints)
  const empty = await filledFolder(ending, 0)

  const memory: { ours: number[]; limit: number[] } = { ours: [], limit: [] }
  const starts = await interleave(
    rounds,
    () => startOnce(full.dataDir, (server) => server.child.stop()),
    () =>
      startOnce(empty.dataDir, async (server) => {
        const limit = await bareChild(options, 'Fastify', ['fastify.js'])
        await pause(settled)
        memory.ours.push(server.child.memory() / 2 ** 20)
        memory.limit.push(limit.child.memory() / 2 ** 20)
        await limit.child.stop()
        await server.child.stop()
      }),
  )
  await withGround(full.dataDir, expectNobody)
  const crashed = quick ? [] : await crashes(full.dataDir, 3)
  const line = (what: string, of: (start: Start) => number): Line => ({
    what,
    unit: 's',
    ours: figure(starts.ours.map(of)),
    limit: { name: 'with an empty database', figure: figure(starts.limit.map(of)) },
    ratio: ratios(starts.ours.map(of), starts.limit.map(of)),
  })
  const more = figure(starts.ours.map(({ wall }, i) => wall - (starts.limit[i]?.wall ?? Number.NaN)))
  const what = `start to ready with ${endpoints.toLocaleString('en')} endpoints`
  const ratio = ratios(memory.ours, memory.limit)
  return [
    {
      ...line(what, ({ wall }) => wall),
      goal: { text: `under ${mostMore} s more`, isMet: more.median < mostMore },
      note: `${hundredths(more.median)} s more (${hundredths(more.min)} to ${hundredths(more.max)})`,
    },
    line(`${what}, CPU`, ({ cpu }) => cpu),
    ...(quick ? [] : [{ what: `${what}, after a crash with all of them connected`, unit: 's', ours: figure(crashed) }]),
    {
      what: 'memory of an idle server without endpoints',
      unit: 'MiB',
      ours: figure(memory.ours),
      limit: { name: 'node with Fastify', figure: figure(memory.limit) },
      ratio,
      goal: atMost(ratio, 2),
    },
  ]
}

/** Nothing is not less than nothing. */
const hundredths = (seconds: number): string => (Math.round(seconds * 100) / 100 || 0).toFixed(2)

async function startOnce(dataDir: string, then: (server: Server) => Promise<unknown>): Promise<Start> {
  const began = performance.now()
  const server = await startServer(dataDir)
  const result = { wall: (performance.now() - began) / 1000, cpu: server.child.cpu() }
  await then(server)
  return result
}

/** Starts that find everybody connected, as after a crash: seconds until ready. */
async function crashes(dataDir: string, count: number): Promise<number[]> {
  const seconds: number[] = []
  for (let i = 0; i < count; i++) {
    await withGround(dataDir, ({ db }) =>
      db.telemetry(({ kysely }) => kysely.updateTable('endpoints').set({ connected: 1 }).execute()),
    )
    seconds.push((await startOnce(dataDir, ({ child }) => child.stop())).wall)
    await withGround(dataDir, expectNobody)
  }
  return seconds
}

/** Everybody is there, and nobody is connected: the start did its work, on what was filled. */
async function expectNobody({ db }: Ground): Promise<void> {
  const { there, connected } = await db.kysely
    .selectFrom('endpoints')
    .select(({ fn }) => [fn.countAll<number>().as('there'), fn.sum<number>('connected').as('connected')])
    .executeTakeFirstOrThrow()
  if (there !== endpoints || connected !== 0) throw new Error(`${there} endpoints, ${connected} of them connected`)
}
