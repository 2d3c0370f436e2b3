// Measures endpointsGet and a refused token; the baseline is node:http that sends the same bytes.
import { fileURLToPath } from 'node:url'
import { makeApiKey } from '../../src/server/auth/token.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { type ClientAnswer, HttpClient } from '../load/http-client.ts'
import { cycle, HttpLoad, makeRequest } from '../load/http-load.ts'
import { type Contender, cpuRow, generatorRow, measureInTurns } from '../measure/comparison.ts'
import { type Row, summarise, withReasonIfMissed } from '../measure/figures.ts'
import { httpContender, peerContender } from '../measure/http-comparison.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { startBareHttp } from '../servers/bare.ts'
import { startJsonServer, startPrism, withPeers } from '../servers/peers.ts'
import { type DataFolder, type MeasuredServer, startServerOn } from '../servers/roomkeeper.ts'

const endpointCount = 10_000
/** Endpoints that are used to warm up, where all others are measured on their first request. */
const warmUpEndpoints = 2_000
/** Peers are so slow that they do only a part of the requests. */
const peerShare = 1 / 100
const malformedToken = 'nonsense'
const getTitle = `endpointsGet, one of ${endpointCount.toLocaleString('en')} endpoints`

export const reads: Bench = async (options) => {
  const { quick, profiles, cleanup } = options
  const folder = await copyFilledFolder(cleanup, endpointCount)
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags('ours'))
  const ours = { ...server, name: 'ours' }
  const paths = folder.devices.map(({ id }) => `/v1/orgs/${folder.org}/endpoints/${id}`)

  const answers = await fetchAll(server, paths, server)
  expectAllEndpoints(folder, answers)
  const peers = quick ? undefined : await withPeers(() => startPeers(options, paths, answers))
  const warmUp = quick ? 3_000 : 6_000
  const plan = { rounds: quick ? 3 : 7, count: quick ? 3_000 : 40_000, profiles }

  const getWork = { request: cycle(paths.map((path) => makeRequest('GET', path, server))), warmUp }
  const getContenders = [
    await httpContender(cleanup, ours, getWork),
    await httpContender(cleanup, await startBareHttp(options, answers), getWork),
    ...(peers?.get ?? []),
  ]
  const getRounds = await measureInTurns(getContenders, plan)

  const [path = ''] = paths
  const [refusal] = await fetchAll(server, [path], { key: malformedToken, status: 401 })
  const bareRefusal = { name: 'bare node:http, 401', status: 401 }
  const refusalWork = { request: makeRequest('GET', path, { key: malformedToken }), status: 401, warmUp }
  const refusalContenders = [
    await httpContender(cleanup, ours, refusalWork),
    await httpContender(cleanup, await startBareHttp(options, [refusal as ClientAnswer], bareRefusal), refusalWork),
    ...(peers?.refuse ?? []),
  ]
  const refusalRounds = await measureInTurns(refusalContenders, plan)
  await server.process.stop()
  return [
    cpuRow(getTitle, getContenders, getRounds, 1.9),
    ...(quick ? [] : [await measureFirstRequests(options, folder, paths, getContenders[1] as Contender)]),
    generatorRow('endpointsGet', getContenders, getRounds),
    withReasonIfMissed(
      cpuRow('request with a malformed token', refusalContenders, refusalRounds, 1.6),
      'A third of the CPU writes to the socket, as in the baseline. The rest is routing, the request id, the rate limit of the address, headers and metrics; none of them takes more than 2 % of a profile.',
    ),
    await measureStatements(options, folder, path),
  ]
}

/** Requests each endpoint once from a server that has just started and has no answers in its cache. */
async function measureFirstRequests(
  { profiles, cleanup }: BenchOptions,
  folder: DataFolder,
  paths: readonly string[],
  baseline: Contender,
): Promise<Row> {
  const server = await startServerOn(cleanup, folder)
  const warmUpRequest = cycle(paths.slice(0, warmUpEndpoints).map((path) => makeRequest('GET', path, server)))
  // Repeated requests for the same few endpoints let V8 compile everything; all other endpoints stay uncached.
  const warm = await httpContender(
    cleanup,
    { ...server, name: 'ours' },
    { request: warmUpRequest, warmUp: 3 * warmUpEndpoints },
  )
  const firstRequest = cycle(paths.slice(warmUpEndpoints).map((path) => makeRequest('GET', path, server)))
  const load = await HttpLoad.connect(server.url, 10)
  cleanup.add(() => load.close())
  const contenders = [{ ...warm, send: (count: number) => load.send(count, firstRequest) }, baseline]
  const rounds = 5
  const count = (endpointCount - warmUpEndpoints) / rounds
  const results = await measureInTurns(contenders, { rounds, count, profiles })
  await server.process.stop()
  return cpuRow('endpointsGet, first request for each endpoint after a start', contenders, results)
}

/** Fetches all paths over ten connections, which also warms up the server. */
async function fetchAll(
  { url }: MeasuredServer,
  paths: readonly string[],
  call: { readonly key: string; readonly status?: number },
): Promise<ClientAnswer[]> {
  const answers: ClientAnswer[] = []
  const remaining = [...paths.entries()]
  const fetchRemaining = async () => {
    const http = new HttpClient(url)
    for (let next = remaining.pop(); next; next = remaining.pop()) {
      const [i, path] = next
      answers[i] = await http.send('GET', path, call)
    }
    http.close()
  }
  await Promise.all(Array.from({ length: 10 }, fetchRemaining))
  return answers
}

function expectAllEndpoints({ devices }: DataFolder, answers: readonly ClientAnswer[]): void {
  const correct = devices.filter(({ id }, i) => JSON.parse(`${answers[i]?.bytes}`).id === id).length
  if (correct !== endpointCount) throw new Error(`${correct} endpoints were answered instead of ${endpointCount}.`)
}

async function startPeers({ cleanup }: BenchOptions, paths: readonly string[], answers: readonly ClientAnswer[]) {
  const prism = await startPrism(cleanup)
  const jsonServer = await startJsonServer(cleanup, { endpoints: answers.map(({ bytes }) => JSON.parse(`${bytes}`)) })
  const work = { warmUp: 500, share: peerShare }
  const [path = ''] = paths
  const prismRequest = cycle(paths.map((path) => makeRequest('GET', path, { key: makeApiKey() })))
  const jsonServerRequest = cycle(paths.map((path) => makeRequest('GET', path.slice(path.indexOf('/endpoints')))))
  // Prism accepts every token, so it refuses only a request without one.
  const prismWithoutToken = { ...prism, name: `${prism.name}, no token` }
  return {
    get: [
      await peerContender(prism, { request: prismRequest, ...work }),
      await peerContender(jsonServer, { request: jsonServerRequest, ...work }),
    ],
    refuse: [await peerContender(prismWithoutToken, { request: makeRequest('GET', path), status: 401, ...work })],
  }
}

/** Counts statements inside a separate server. The few that remain are its scheduled tasks, which run without requests. */
async function measureStatements({ quick, cleanup }: BenchOptions, folder: DataFolder, path: string): Promise<Row> {
  const counter = fileURLToPath(new URL('../preload/statement-count.ts', import.meta.url))
  const server = await startServerOn(cleanup, folder, ['--import', counter])
  const load = await HttpLoad.connect(server.url, 10)
  cleanup.add(() => load.close())
  const requests = quick ? 1_000 : 20_000
  const statementsPerRequest = async (key: () => string) => {
    await load.send(requests, () => makeRequest('GET', path, { key: key() }), 401)
    server.process.signal('SIGUSR2')
    const [, count] = await server.process.waitForOutput(/statements (\d+)\n/)
    return Number(count) / requests
  }
  const unknown: number[] = []
  const malformed: number[] = []
  await statementsPerRequest(makeApiKey)
  for (let round = 0; round < 3; round++) {
    unknown.push(await statementsPerRequest(makeApiKey))
    malformed.push(await statementsPerRequest(() => malformedToken))
  }
  await server.process.stop()
  return {
    title: 'request with a malformed token',
    unit: 'SQL statements',
    ours: summarise(malformed),
    baseline: { name: 'well-formed but unknown token', figure: summarise(unknown) },
    goal: { text: 'none', isMet: Math.max(...malformed) < 0.01 },
  }
}
