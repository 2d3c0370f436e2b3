// All endpoints of ten thousand in one answer: unchanged, known to the caller already, and changed before every request.
import { connectAsync } from 'mqtt'
import type { Bench, BenchOptions } from '../bench.ts'
import { filledFolder } from '../fixture/data-folders.ts'
import { type Answer, HttpClient } from '../load/http-client.ts'
import { inTurns, requestOf } from '../load/http-load.ts'
import { costLine, type Round, type Side, takeTurns } from '../measure/comparison.ts'
import type { Line } from '../measure/figures.ts'
import { bareHttp, httpSide } from '../measure/http-comparison.ts'
import { oneByOne, Stringified } from '../measure/long-answers.ts'
import { type Housed, serveHouse } from '../servers/filled-server.ts'
import type { Server } from '../servers/roomkeeper.ts'

const endpoints = 10_000

/** Changes something in the list, and gives the text that is new in it. */
type Change = () => Promise<string>

export const lists: Bench = async (options) => {
  const { quick, profiles, ending } = options
  const house = await filledFolder(ending, endpoints)
  const server = await serveHouse(ending, house, profiles.flags('ours'))
  const ours = { ...server, name: 'ours' }
  const path = `/v1/orgs/${server.org}/endpoints`
  const http = new HttpClient(server.url)
  ending.add(() => http.close())
  const answer = await http.send('GET', path, server)
  expectAll(answer)
  const size = `${(answer.bytes.length / 2 ** 20).toFixed(1)} MiB`
  const what = `endpointsBasicList of ${endpoints.toLocaleString('en')} (${size})`
  const rounds = quick ? 3 : 7

  const whole = { request: requestOf('GET', path, server), connections: 2, warmUp: 20 }
  const still = [await httpSide(ending, ours, whole), await httpSide(ending, await bareHttp(options, [answer]), whole)]
  const stillRounds = await takeTurns(still, { rounds, count: await fitting(still, quick ? 80 : 400), profiles })

  const conditional = requestOf('GET', path, { ...server, headers: { 'If-None-Match': headerOf(answer, 'etag') } })
  const one = inTurns(house.devices.map(({ id }) => requestOf('GET', `${path}/${id}`, server)))
  const known = [
    await httpSide(ending, ours, { request: conditional, status: 304, warmUp: 20 }),
    await httpSide(ending, { ...ours, name: 'one endpointsGet' }, { request: one, warmUp: endpoints }),
  ]
  const count = await fitting(known, quick ? 2_000 : 8_000)
  const knownRounds = await takeTurns(known, { rounds, count, slices: 10, profiles })

  const changed = await changedLines(options, { house, server, http, path, answer, what, rounds })
  await server.child.stop()
  return [
    costLine(`${what}, nothing changed`, still, stillRounds, 1.5),
    costLine('the same, with If-None-Match', known, knownRounds, 1),
    ...changed,
  ]
}

/** So many operations, or as many as ours does in a second or two. All sides do them once, to be warm. */
async function fitting(sides: readonly Side[], most: number): Promise<number> {
  const { seconds = 1 } = (await sides[0]?.send(20)) ?? {}
  const count = Math.min(most, Math.max(20, Math.ceil(30 / seconds)))
  for (const { send } of sides) await send(count)
  return count
}

function expectAll({ bytes }: Answer): void {
  const ids = new Set(JSON.parse(`${bytes}`).endpoints.map((endpoint: { id: string }) => endpoint.id))
  if (ids.size !== endpoints) throw new Error(`the list has ${ids.size} endpoints, not ${endpoints}`)
}

const headerOf = ({ headers }: Answer, name: string): string =>
  headers[headers.findIndex((header) => header.toLowerCase() === name) + 1] ?? ''

interface Place {
  readonly house: Housed
  readonly server: Server
  readonly http: HttpClient
  readonly path: string
  readonly answer: Answer
  readonly what: string
  readonly rounds: number
}

async function changedLines({ quick, profiles, ending }: BenchOptions, place: Place): Promise<Line[]> {
  const { server, http, path, what } = place
  const requests = quick ? 6 : 20
  const getMany = (change: Change) => {
    let news = ''
    const ask = async () => {
      const answer = await http.send('GET', path, server)
      if (!answer.bytes.includes(news)) throw new Error(`the list does not have ${news}`)
      return answer
    }
    return oneByOne(server.child, requests, ask, async () => {
      news = await change()
    })
  }
  const reported = await statusChange(ending, place)
  const renamed = await roomChange(place)
  await getMany(reported)
  await getMany(renamed)
  const limit = new Stringified(ending, place.answer.bytes)
  const rounds: Record<'reported' | 'renamed', Round[]> = { reported: [], renamed: [] }
  for (let round = 0; round < place.rounds; round++) {
    rounds.reported.push(await profiles.during('ours', () => getMany(reported)))
    await limit.measure(requests)
    rounds.renamed.push(await profiles.during('ours', () => getMany(renamed)))
  }
  return [
    limit.line(`${what}, a status changed before each`, rounds.reported, 2),
    limit.line(`${what}, a room renamed before each`, rounds.renamed, 2),
  ]
}

/** Devices all over the list report in turns, over MQTT. */
async function statusChange(ending: BenchOptions['ending'], { house, server }: Place): Promise<Change> {
  const some = house.devices.filter((_, i) => i % (endpoints / 10) === 0)
  const clients = await Promise.all(
    some.map(({ id, credential }) =>
      connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, { clientId: id, username: id, password: credential }),
    ),
  )
  for (const client of clients) ending.add(() => client.endAsync(true))
  let n = 0
  return async () => {
    const at = n % clients.length
    const firmwareVersion = `NFB1.20261101.${n++}`
    const report = JSON.stringify({ inCallStatus: n % 2 === 0 ? 'TEAMS' : 'ZOOM', firmwareVersion })
    await clients[at]?.publishAsync(`v1/${some[at]?.id}/up/status`, report, { qos: 1 })
    return `"${firmwareVersion}"`
  }
}

/** Rooms all over the list, in turns; they stay where they are. */
async function roomChange({ http, server: { org, key } }: Place): Promise<Change> {
  const path = `/v1/orgs/${org}/rooms`
  const { rooms } = await http.json('GET', path, { key })
  let n = 0
  return async () => {
    const { id, location } = rooms[(n * 97) % rooms.length]
    const name = `Room number ${n++}`
    await http.send('PUT', `${path}/${id}`, { key, body: { name, locationId: location.id } })
    return `"${name}"`
  }
}
