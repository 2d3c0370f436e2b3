// One endpoint of ten thousand, and a token that is none, beside node:http that sends the same bytes.
import { fileURLToPath } from 'node:url'
import { makeToken } from '../../src/platform/auth/token.ts'
import type { Bench, BenchOptions } from '../bench.ts'
import { filledFolder } from '../fixture/data-folders.ts'
import { type Answer, HttpClient } from '../load/http-client.ts'
import { HttpLoad, inTurns, requestOf } from '../load/http-load.ts'
import { costLine, type Side, senderLine, takeTurns } from '../measure/comparison.ts'
import { explained, figure, type Line } from '../measure/figures.ts'
import { bareHttp, httpSide } from '../measure/http-comparison.ts'
import { type Housed, serveHouse } from '../servers/filled-server.ts'
import { peerSide, startJsonServer, startPrism, withPeers } from '../servers/peers.ts'
import type { Server } from '../servers/roomkeeper.ts'

const endpoints = 10_000
/** Endpoints that are asked for to warm up, where the others are to be asked for the first time. */
const firstFew = 2_000
/** They are that much slower. */
const shareOfPeers = 1 / 100
const nonsense = 'nonsense'
const what = `endpointsGet, one of ${endpoints.toLocaleString('en')}`

export const reads: Bench = async (options) => {
  const { quick, profiles, ending } = options
  const house = await filledFolder(ending, endpoints)
  const server = await serveHouse(ending, house, profiles.flags('ours'))
  const ours = { ...server, name: 'ours' }
  const paths = house.devices.map(({ id }) => `/v1/orgs/${house.org}/endpoints/${id}`)

  const answers = await answersTo(server, paths, server)
  expectAll(house, answers)
  const peers = quick ? undefined : await withPeers(() => startPeers(options, paths, answers))
  const warmUp = quick ? 3_000 : 6_000
  const plan = { rounds: quick ? 3 : 7, count: quick ? 3_000 : 40_000, profiles }

  const known = { request: inTurns(paths.map((path) => requestOf('GET', path, server))), warmUp }
  const get = [
    await httpSide(ending, ours, known),
    await httpSide(ending, await bareHttp(options, answers), known),
    ...(peers?.get ?? []),
  ]
  const gotten = await takeTurns(get, plan)

  const [path = ''] = paths
  const [refusal] = await answersTo(server, [path], { key: nonsense, status: 401 })
  const refused = { name: 'bare node:http, 401', status: 401 }
  const unknown = { request: requestOf('GET', path, { key: nonsense }), status: 401, warmUp }
  const refuse = [
    await httpSide(ending, ours, unknown),
    await httpSide(ending, await bareHttp(options, [refusal as Answer], refused), unknown),
    ...(peers?.refuse ?? []),
  ]
  const turnedAway = await takeTurns(refuse, plan)
  await server.child.stop()
  return [
    costLine(what, get, gotten, 1.9),
    ...(quick ? [] : [await firstTimes(options, house, paths, get[1] as Side)]),
    senderLine('endpointsGet', get, gotten),
    explained(
      costLine('a malformed token', refuse, turnedAway, 1.6),
      'writing to the socket is a third, as it is beside it; the rest is routing, an id for the request, the limit of its address, headers and metrics, none of which has more than 2 % of a profile.',
    ),
    await statementsOf(options, house, path),
  ]
}

/** The same where nothing is kept yet: a server that has just started, and that is asked for each endpoint once. */
async function firstTimes(
  { profiles, ending }: BenchOptions,
  house: Housed,
  paths: readonly string[],
  limit: Side,
): Promise<Line> {
  const server = await serveHouse(ending, house)
  const few = paths.slice(0, firstFew)
  const asked = inTurns(few.map((path) => requestOf('GET', path, server)))
  // Those who warm it up come back until everything is compiled; then it is the turn of the others.
  const warm = await httpSide(ending, { ...server, name: 'ours' }, { request: asked, warmUp: 3 * firstFew })
  const once = inTurns(paths.slice(firstFew).map((path) => requestOf('GET', path, server)))
  const load = await HttpLoad.connect(server.url, 10)
  ending.add(() => load.close())
  const sides = [{ ...warm, send: (count: number) => load.send(count, once) }, limit]
  const rounds = 5
  const done = await takeTurns(sides, { rounds, count: (endpoints - firstFew) / rounds, profiles })
  await server.child.stop()
  return { ...costLine('the same, each for the first time', sides, done), isQuoted: true }
}

/** All of them, which also makes the server warm. */
async function answersTo(
  { url }: Server,
  paths: readonly string[],
  call: { readonly key: string; readonly status?: number },
): Promise<Answer[]> {
  const answers: Answer[] = []
  const waiting = [...paths.entries()]
  const ask = async () => {
    const http = new HttpClient(url)
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [i, path] = next
      answers[i] = await http.send('GET', path, call)
    }
    http.close()
  }
  await Promise.all(Array.from({ length: 10 }, ask))
  return answers
}

function expectAll({ devices }: Housed, answers: readonly Answer[]): void {
  const right = devices.filter(({ id }, i) => JSON.parse(`${answers[i]?.bytes}`).id === id).length
  if (right !== endpoints) throw new Error(`${right} endpoints were answered, not ${endpoints}`)
}

async function startPeers({ ending }: BenchOptions, paths: readonly string[], answers: readonly Answer[]) {
  const prism = await startPrism(ending)
  const jsonServer = await startJsonServer(ending, { endpoints: answers.map(({ bytes }) => JSON.parse(`${bytes}`)) })
  const asked = { warmUp: 500, share: shareOfPeers }
  const [path = ''] = paths
  const known = inTurns(paths.map((path) => requestOf('GET', path, { key: makeToken() })))
  const ofFile = inTurns(paths.map((path) => requestOf('GET', path.slice(path.indexOf('/endpoints')))))
  // It takes any token for a good one, so it gets none.
  const none = { name: `${prism.name}, no token` }
  return {
    get: [
      await peerSide(prism, { request: known, ...asked }),
      await peerSide(jsonServer, { request: ofFile, ...asked }),
    ],
    refuse: [await peerSide({ ...prism, ...none }, { request: requestOf('GET', path), status: 401, ...asked })],
  }
}

/** Counted inside of a server of its own. The few that remain are its upkeep, which does not wait for requests. */
async function statementsOf({ quick, ending }: BenchOptions, house: Housed, path: string): Promise<Line> {
  const watch = fileURLToPath(new URL('../preload/statement-count.ts', import.meta.url))
  const { child, url } = await serveHouse(ending, house, ['--import', watch])
  const load = await HttpLoad.connect(url, 10)
  ending.add(() => load.close())
  const requests = quick ? 1_000 : 20_000
  const statements = async (key: () => string) => {
    await load.send(requests, () => requestOf('GET', path, { key: key() }), 401)
    child.signal('SIGUSR2')
    const [, count] = await child.printed(/statements (\d+)\n/)
    return Number(count) / requests
  }
  const ofNobody: number[] = []
  const ofNonsense: number[] = []
  await statements(makeToken)
  for (let round = 0; round < 3; round++) {
    ofNobody.push(await statements(makeToken))
    ofNonsense.push(await statements(() => nonsense))
  }
  await child.stop()
  return {
    what: 'a malformed token: what it asks the database',
    unit: 'statements',
    ours: figure(ofNonsense),
    limit: { name: 'a well-formed one that nobody holds', figure: figure(ofNobody) },
    goal: { text: 'none', isMet: Math.max(...ofNonsense) < 0.01 },
  }
}
