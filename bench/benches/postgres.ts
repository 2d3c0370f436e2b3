// The same reads and writes on PostgreSQL, beside pg with the same statements behind node:http and aedes.
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { Bench, BenchOptions } from '../bench.ts'
import { fillHouse, type House } from '../fixture/organisation.ts'
import { withGround } from '../fixture/samples.ts'
import { HttpClient } from '../load/http-client.ts'
import { HttpLoad, inTurns, type Request, requestOf } from '../load/http-load.ts'
import { Load } from '../load/mqtt-load.ts'
import { costLine, type Round, type Run, type Side, takeTurns } from '../measure/comparison.ts'
import { figure, type Line, ratios } from '../measure/figures.ts'
import { expectChain } from '../servers/audit-verify.ts'
import { ask, BenchCluster } from '../servers/postgres-cluster.ts'
import { type Server, startServer } from '../servers/roomkeeper.ts'
import { Child } from '../servers/subprocess.ts'

const endpoints = 10_000
const many = endpoints.toLocaleString('en')
const fleet = 500
const connections = 10
const most = 2
const limitName = 'bare pg'
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface Place {
  readonly cluster: BenchCluster
  readonly server: Server
  readonly house: House
  readonly limit: Child
  readonly limitUrl: string
  readonly limitMqttPort: number
  /** Addresses of the databases, ours and its copy. */
  readonly databases: readonly string[]
  readonly dataDir: string
}

export const postgres: Bench = async (options) => {
  const { quick, ending } = options
  let cluster: BenchCluster
  try {
    cluster = await BenchCluster.start(ending)
  } catch (error) {
    process.stdout.write(`Left out: ${(error as Error).message}\n`)
    return []
  }
  const place = await open(options, cluster)
  const { server, house } = place
  const base = `/v1/orgs/${server.org}`
  const { key } = server
  const get = (path: string) => requestOf('GET', base + path, { key })
  await expectSame(place, `${base}/endpoints/${house.devices[0]?.id}`)
  await expectSame(place, `${base}/endpoints`)

  const gets = house.devices.map(({ id }) => get(`/endpoints/${id}`))
  /** Those of each side, one endpoint after the other. */
  const getsOf = (some: number) => () => inTurns(gets.slice(0, some))
  let created = 0
  const region = () => requestOf('POST', `${base}/regions`, { key, body: { name: `Region ${created++}` } })
  const window = new URLSearchParams({ from: '2026-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' })

  const bench = new Turns(options, place)
  const lines = [
    ...(await bench.http(`endpointsGet, one of ${many}, each for the first time`, {
      requests: getsOf(endpoints),
      count: quick ? 1_200 : 1_600,
      warmUp: quick ? 1_500 : 2_000,
    })),
    ...(await bench.http('endpointsGet, unchanged since last time', {
      requests: getsOf(1_000),
      count: quick ? 1_200 : 8_000,
      warmUp: quick ? 1_000 : 5_000,
    })),
    ...(await bench.http(`endpointsBasicList of ${many}, unchanged`, {
      requests: () => get('/endpoints'),
      count: quick ? 3 : 20,
      warmUp: quick ? 5 : 10,
      callers: 1,
    })),
    ...(await bench.changedList(base, get('/endpoints'))),
    ...(await bench.http('regionsCreate, durable and audited', {
      requests: () => region,
      count: quick ? 160 : 1_000,
      warmUp: quick ? 150 : 1_000,
    })),
    ...(await bench.http('a page of the audit log', {
      requests: () => get(`/audit/logs?${window}`),
      count: quick ? 160 : 2_000,
      warmUp: quick ? 100 : 500,
    })),
    ...(await bench.samples()),
  ]
  await expectPages(place, `${base}/audit/logs?${window}`)
  await server.child.stop()
  await place.limit.stop()
  await expectWritten(place, created / 2, bench.sampled)
  return lines
}

async function open({ ending, profiles }: BenchOptions, cluster: BenchCluster): Promise<Place> {
  const dataDir = ending.folder()
  const ours = await cluster.create('ours')
  const first = await startServer(dataDir, [], ['--database-url', ours])
  ending.add(() => first.child.stop())
  await first.child.stop()
  const house = await withGround({ dataDir, databaseUrl: ours }, (ground) => fillHouse(ground, endpoints))
  const copy = await cluster.create('bare', 'ours')
  for (const url of [ours, copy]) await ask(url, 'vacuum analyze')
  const limit = new Child('the limit', [...profiles.flags(limitName), file('../bare/postgres.ts'), copy])
  ending.add(() => limit.stop())
  const [, port, mqttPort] = await limit.printed(/listening on (\d+) and (\d+)/)
  const server = await startServer(dataDir, profiles.flags('ours'), ['--database-url', ours])
  ending.add(() => server.child.stop())
  return {
    cluster,
    server: { ...server, org: first.org, key: first.key },
    house,
    limit,
    limitUrl: `http://127.0.0.1:${port}`,
    limitMqttPort: Number(mqttPort),
    databases: [ours, copy],
    dataDir,
  }
}

interface HttpWork {
  /** Those of a side. */
  readonly requests: () => Request
  /** Requests in a round, and before the first. */
  readonly count: number
  readonly warmUp: number
  readonly callers?: number
}

class Turns {
  readonly #options: BenchOptions
  readonly #place: Place
  /** Samples that each side has acknowledged. */
  sampled = 0

  constructor(options: BenchOptions, place: Place) {
    this.#options = options
    this.#place = place
  }

  async http(what: string, { requests, count, warmUp, callers = connections }: HttpWork): Promise<Line[]> {
    const sides = await this.#httpSides(requests, callers)
    for (const { send } of sides) await send(warmUp)
    const { sides: watched, lines } = this.#watched(sides)
    const slices = Math.min(4, count)
    const rounds = await takeTurns(watched, { rounds: this.#rounds, count, slices, profiles: this.#options.profiles })
    return lines(what, rounds)
  }

  /** The cost of the change itself is not counted. The limit keeps nothing, so to it everything is new anyway. */
  async changedList(base: string, request: Buffer): Promise<Line[]> {
    const { server, house } = this.#place
    const http = new HttpClient(server.url)
    this.#options.ending.add(() => http.close())
    const { sides, lines } = this.#watched(await this.#httpSides(() => request, 1))
    const done: Round[][] = sides.map(() => [])
    for (let round = 0; round < this.#rounds * 2; round++) {
      const room = house.rooms[round] as number
      await http.send('PUT', `${base}/rooms/${room}`, { key: server.key, body: { name: `Renamed ${round}` } })
      const one = await takeTurns(sides, { rounds: 1, count: 1, slices: 1, profiles: this.#options.profiles })
      for (const [i, rounds] of done.entries()) rounds.push(...(one[i] ?? []))
      const { bytes } = await http.send('GET', `${base}/endpoints`, { key: server.key })
      if (!bytes.includes(`"Renamed ${round}"`)) throw new Error('a list does not show what was changed before it')
    }
    return lines('the same list, a room renamed in between', done)
  }

  /**
   * A second apart, in a quarter of an hour that is not over: nothing is rolled up meanwhile. Half the time that a device's clock
   * may be ahead is enough for all of them.
   */
  async samples(): Promise<Line[]> {
    const { quick, ending, profiles } = this.#options
    const { server, house, limit, limitMqttPort } = this.#place
    const [warmUp, each, slices] = [quick ? 20 : 40, quick ? 3 : 8, 4]
    const now = Math.floor(Date.now() / 1000)
    const start = Math.max(now - (now % 900), now - 300)
    const sideOf = async (name: string, child: Child, port: number): Promise<Side> => {
      const load = await Load.connect(port, house.devices.slice(0, fleet), (n) => start + n)
      ending.add(() => load.close())
      await load.send(warmUp)
      return { name, child, send: (count) => load.send(count / fleet) }
    }
    const { sides, lines } = this.#watched([
      await sideOf('ours', server.child, server.mqttPort),
      await sideOf(limitName, limit, limitMqttPort),
    ])
    const rounds = await takeTurns(sides, { rounds: this.#rounds, count: slices * each * fleet, slices, profiles })
    this.sampled = (warmUp + this.#rounds * slices * each) * fleet
    return lines(`a durable QoS 1 sample, ${fleet} devices`, rounds)
  }

  get #rounds(): number {
    return this.#options.quick ? 2 : 5
  }

  async #httpSides(requests: () => Request, callers: number): Promise<Side[]> {
    const { server, limit, limitUrl } = this.#place
    const sideOf = async (name: string, child: Child, url: string): Promise<Side> => {
      const load = await HttpLoad.connect(url, callers)
      this.#options.ending.add(() => load.close())
      const request = requests()
      return { name, child, send: (count) => load.send(count, request) }
    }
    return [await sideOf('ours', server.child, server.url), await sideOf(limitName, limit, limitUrl)]
  }

  /** Watches PostgreSQL too: what the server spares itself, it may have handed on. */
  #watched(sides: readonly Side[]): { sides: Side[]; lines: (what: string, rounds: Round[][]) => Line[] } {
    const { cluster } = this.#place
    const spent: number[][] = sides.map(() => [])
    const watched = sides.map((side, i) => ({
      ...side,
      send: async (count: number): Promise<Run> => {
        const before = cluster.cpu()
        const run = await side.send(count)
        spent[i]?.push(((cluster.cpu() - before) * 1e6) / count)
        return run
      },
    }))
    const lines = (what: string, rounds: Round[][]): Line[] => {
      const [ours = [], limit = []] = spent
      return [
        costLine(what, sides, rounds, most),
        {
          what: `${what}: PostgreSQL itself`,
          unit: 'µs CPU',
          ours: figure(ours),
          limit: { name: limitName, figure: figure(limit) },
          ratio: ratios(ours, limit),
        },
      ]
    }
    return { sides: watched, lines }
  }
}

/** What both sides answer, ours first. */
function answersOf({ server, limitUrl }: Place, path: string): Promise<string[]> {
  return Promise.all(
    [server.url, limitUrl].map(async (url) => {
      const http = new HttpClient(url)
      const { bytes } = await http.send('GET', path, { key: server.key })
      http.close()
      return bytes.toString()
    }),
  )
}

/** Both sides answer the same, in whatever order: otherwise they do not do the same work. */
async function expectSame(place: Place, path: string): Promise<void> {
  const [ours = '', limit = ''] = await answersOf(place, path)
  if (!isDeepStrictEqual(JSON.parse(ours), JSON.parse(limit)))
    throw new Error(`${path} differs: ${ours.slice(0, 500)} and ${limit.slice(0, 500)}`)
}

/** Each side has its own entries, but they are as many and say as much. */
async function expectPages(place: Place, path: string): Promise<void> {
  const shapes = (await answersOf(place, path)).map((text) => {
    const { logs } = JSON.parse(text)
    return `${logs.length} entries of ${Object.keys(logs[0]).join(', ')}`
  })
  if (shapes[0] !== shapes[1] || !shapes[0]?.startsWith('100 ')) throw new Error(`pages differ: ${shapes.join('; ')}`)
}

/** What was answered and acknowledged is there, on both sides, and our log of it is whole. */
async function expectWritten({ databases, dataDir }: Place, regions: number, samples: number): Promise<void> {
  for (const url of databases) {
    const [counted] = await ask(
      url,
      `select (select count(*)::int from regions) - 1 as regions, (select count(*)::int from samples) as samples,
         (select count(*)::int from audit_log where type = 'REGION_CREATED') as entries`,
    )
    const expected = JSON.stringify({ regions, samples, entries: regions })
    if (JSON.stringify(counted) !== expected)
      throw new Error(`${expected} were sent, ${JSON.stringify(counted)} is there`)
  }
  await expectChain(['--data-dir', dataDir, '--database-url', databases[0] ?? ''])
}
