// Measures endpointsBasicList of 10,000 endpoints: unchanged, answered with 304, and changed before every request.
import { connectAsync } from 'mqtt'
import type { Cleanup } from '../cleanup.ts'
import { copyFilledFolder } from '../fixture/data-folders.ts'
import { type ClientAnswer, HttpClient } from '../load/http-client.ts'
import { cycle, makeRequest } from '../load/http-load.ts'
import { type Contender, cpuRow, measureInTurns, type Round } from '../measure/comparison.ts'
import type { Row } from '../measure/figures.ts'
import { httpContender } from '../measure/http-comparison.ts'
import { measureOneByOne, StringifyBaseline } from '../measure/long-answers.ts'
import type { Bench, BenchOptions } from '../options.ts'
import { startBareHttp } from '../servers/bare.ts'
import { type DataFolder, type MeasuredServer, startServerOn } from '../servers/roomkeeper.ts'

const endpointCount = 10_000

/** Changes one entry of the list and returns a text that the next answer must contain. */
type Change = () => Promise<string>

export const lists: Bench = async (options) => {
  const { quick, profiles, cleanup } = options
  const folder = await copyFilledFolder(cleanup, endpointCount)
  const server = await startServerOn(cleanup, folder, profiles.nodeFlags('ours'))
  const ours = { ...server, name: 'ours' }
  const path = `/v1/orgs/${server.org}/endpoints`
  const http = new HttpClient(server.url)
  cleanup.add(() => http.close())
  const answer = await http.send('GET', path, server)
  expectAllEndpoints(answer)
  const size = `${(answer.bytes.length / 2 ** 20).toFixed(1)} MiB`
  const title = `endpointsBasicList of ${endpointCount.toLocaleString('en')} (${size})`
  const rounds = quick ? 3 : 7

  const listWork = { request: makeRequest('GET', path, server), connections: 2, warmUp: 20 }
  const unchanged = [
    await httpContender(cleanup, ours, listWork),
    await httpContender(cleanup, await startBareHttp(options, [answer]), listWork),
  ]
  const unchangedCount = await chooseCount(unchanged, quick ? 80 : 400)
  const unchangedRounds = await measureInTurns(unchanged, { rounds, count: unchangedCount, profiles })

  const conditional = makeRequest('GET', path, { ...server, headers: { 'If-None-Match': headerOf(answer, 'etag') } })
  const single = cycle(folder.devices.map(({ id }) => makeRequest('GET', `${path}/${id}`, server)))
  const notModified = [
    await httpContender(cleanup, ours, { request: conditional, status: 304, warmUp: 20 }),
    await httpContender(cleanup, { ...ours, name: 'one endpointsGet' }, { request: single, warmUp: endpointCount }),
  ]
  const count = await chooseCount(notModified, quick ? 2_000 : 8_000)
  const notModifiedRounds = await measureInTurns(notModified, { rounds, count, slices: 10, profiles })

  const changedRows = await measureChanged(options, { folder, server, http, path, answer, title, rounds })
  await server.process.stop()
  return [
    cpuRow(`${title}, unchanged`, unchanged, unchangedRounds, 1.5),
    cpuRow(`${title}, answered with 304`, notModified, notModifiedRounds, 1),
    ...changedRows,
  ]
}

/** Returns `maxCount`, or as many operations as our server does in a second or two. Every contender does them once to warm up. */
async function chooseCount(contenders: readonly Contender[], maxCount: number): Promise<number> {
  const { seconds = 1 } = (await contenders[0]?.send(20)) ?? {}
  const count = Math.min(maxCount, Math.max(20, Math.ceil(30 / seconds)))
  for (const { send } of contenders) await send(count)
  return count
}

function expectAllEndpoints({ bytes }: ClientAnswer): void {
  const ids = new Set(JSON.parse(`${bytes}`).endpoints.map((endpoint: { id: string }) => endpoint.id))
  if (ids.size !== endpointCount) throw new Error(`The list has ${ids.size} endpoints instead of ${endpointCount}.`)
}

const headerOf = ({ headers }: ClientAnswer, name: string): string =>
  headers[headers.findIndex((header) => header.toLowerCase() === name) + 1] ?? ''

interface ListSetup {
  readonly folder: DataFolder
  readonly server: MeasuredServer
  readonly http: HttpClient
  readonly path: string
  readonly answer: ClientAnswer
  readonly title: string
  readonly rounds: number
}

async function measureChanged({ quick, profiles, cleanup }: BenchOptions, setup: ListSetup): Promise<Row[]> {
  const { server, http, path, title } = setup
  const requests = quick ? 6 : 20
  const measureAfter = (change: Change) => {
    let expected = ''
    const getList = async () => {
      const answer = await http.send('GET', path, server)
      if (!answer.bytes.includes(expected)) throw new Error(`The list does not contain ${expected}.`)
      return answer
    }
    return measureOneByOne(server.process, requests, getList, async () => {
      expected = await change()
    })
  }
  const reportStatus = await makeStatusChange(cleanup, setup)
  const renameRoom = await makeRoomChange(setup)
  await measureAfter(reportStatus)
  await measureAfter(renameRoom)
  const baseline = new StringifyBaseline(cleanup, setup.answer.bytes)
  const rounds: Record<'status' | 'room', Round[]> = { status: [], room: [] }
  for (let round = 0; round < setup.rounds; round++) {
    rounds.status.push(await profiles.during('ours', () => measureAfter(reportStatus)))
    await baseline.measure(requests)
    rounds.room.push(await profiles.during('ours', () => measureAfter(renameRoom)))
  }
  return [
    baseline.row(`${title}, a status changed before each request`, rounds.status, 2),
    baseline.row(`${title}, a room renamed before each request`, rounds.room, 2),
  ]
}

/** Devices that are spread over the list report their status in turns, over MQTT. */
async function makeStatusChange(cleanup: Cleanup, { folder, server }: ListSetup): Promise<Change> {
  const devices = folder.devices.filter((_, i) => i % (endpointCount / 10) === 0)
  const clients = await Promise.all(
    devices.map(({ id, credential }) =>
      connectAsync(`mqtt://127.0.0.1:${server.mqttPort}`, { clientId: id, username: id, password: credential }),
    ),
  )
  for (const client of clients) cleanup.add(() => client.endAsync(true))
  let n = 0
  return async () => {
    const i = n % clients.length
    const firmwareVersion = `NFB1.20261101.${n++}`
    const report = JSON.stringify({ inCallStatus: n % 2 === 0 ? 'TEAMS' : 'ZOOM', firmwareVersion })
    await clients[i]?.publishAsync(`v1/${devices[i]?.id}/up/status`, report, { qos: 1 })
    return `"${firmwareVersion}"`
  }
}

/** Rooms that are spread over the list are renamed in turns; they keep their location. */
async function makeRoomChange({ http, server: { org, key } }: ListSetup): Promise<Change> {
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
