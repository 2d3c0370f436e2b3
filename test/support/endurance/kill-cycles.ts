// Kills a server with SIGKILL again and again under writes, samples and commands, and checks that nothing acknowledged is lost or doubled.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { devicePaths } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../devices/test-device.ts'
import { percentile } from '../flood.ts'
import { freePort } from '../free-port.ts'
import { send } from '../harness.ts'
import { Program, type Server, type Site, until } from '../program.ts'
import { type EnduranceCounts, report } from './counts.ts'
import { SeededChoices } from './random.ts'

const model = 'NF19B1'
const sampleSenders = 3
const regionWriters = 4

/** All acknowledged work of one cycle. */
interface CycleWork {
  readonly regions: Set<string>
  /** Times of the samples of each device. */
  readonly samples: Map<TestDevice, Set<number>>
  /** Ids by message text. */
  readonly commands: Map<string, string>
  /** Ids of the commands whose success the service has acknowledged. */
  readonly finishedCommands: Set<string>
  /** Set before the server is killed: from then on connections may fail. */
  isKilled: boolean
  /** Rejects when the server is gone. */
  readonly gone: Promise<never>
}

interface Fleet {
  readonly senders: readonly TestDevice[]
  readonly commanded: TestDevice
  nextSampleAt: number
}

async function enrolFleet({ url, org, key }: Server, mqttPort: number): Promise<Fleet> {
  const room = await send(url, 'POST', `/v1/orgs/${org}/rooms`, { key, body: { name: 'Fjord' } })
  const devices: TestDevice[] = []
  for (let i = 0; i <= sampleSenders; i++) {
    const serial = `KILL${i}`
    const { body } = await send(url, 'POST', devicePaths.enrol, { body: { code: room.body.dec, serial, model } })
    devices.push(new TestDevice(mqttPort, serial, model, body))
  }
  const [commanded, ...senders] = devices as [TestDevice, ...TestDevice[]]
  return { senders, commanded, nextSampleAt: Math.floor(Date.now() / 1000) - 20 * 86_400 }
}

/** Works until the server is gone. An answer that never comes must not be awaited for longer. */
async function workOn(server: Server, first: Server, fleet: Fleet, cycle: number, work: CycleWork): Promise<void> {
  const post = async (path: string, body: object) => {
    const sent = send(server.url, 'POST', `/v1/orgs/${first.org}${path}`, { key: first.key, body })
    const reply = await Promise.race([sent, work.gone])
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const writeRegions = async (writer: number) => {
    for (let i = 0; ; i++) {
      const name = `c${cycle}-${writer}-${i}`
      await post('/regions', { name })
      work.regions.add(name)
    }
  }
  const sendSamples = async (device: TestDevice) => {
    for (;;) {
      const timestamp = fleet.nextSampleAt++
      const samples = [{ timestamp, co2: timestamp % 5000 }]
      await Promise.race([device.publish('sample', { samples }), work.gone])
      work.samples.get(device)?.add(timestamp)
    }
  }
  const { commanded } = fleet
  const receivedBefore = commanded.received.length
  const sendCommands = async () => {
    for (let i = 0; ; i++) {
      const message = `c${cycle}-${i}`
      const { operations } = await post('/endpoints/send_message', { message, endpointIds: [commanded.id] })
      work.commands.set(message, operations[0].id)
      await pause(5)
    }
  }
  const finishCommands = async () => {
    for (let next = receivedBefore; ; next++) {
      await Promise.race([until('a message', () => commanded.received.length > next), work.gone])
      const { kind, body } = commanded.received[next] as TestDevice['received'][number]
      if (kind !== 'operation') continue
      await Promise.race([commanded.publish('operation', { id: body.id, state: 'SUCCEEDED' }), work.gone])
      work.finishedCommands.add(body.id)
    }
  }
  await Promise.all(
    [
      ...Array.from({ length: regionWriters }, (_, writer) => writeRegions(writer)),
      ...fleet.senders.map(sendSamples),
      sendCommands(),
      finishCommands(),
    ].map((endless) =>
      endless.catch((error) => {
        // A wrong answer is a failure. A connection that ends is not, once the server was killed.
        if (error?.name === 'AssertionError' || !work.isKilled) throw error
      }),
    ),
  )
}

async function check(site: Site, fleet: Fleet, cycle: number, work: CycleWork): Promise<void> {
  const regions = await site.sql(`select name from regions where name like 'c${cycle}-%'`)
  const names = new Set(regions.map(({ name }) => String(name)))
  expect(names.size, 'no write is there twice').toBe(regions.length)
  expect(
    [...work.regions].filter((name) => !names.has(name)),
    'lost writes',
  ).toEqual([])

  for (const [device, times] of work.samples) {
    if (times.size === 0) continue
    const rows = await site.sql(
      `select s.timestamp, s.co2 from samples s join endpoints e on e.org = s.org and e.number = s.endpoint
        where e.id = '${device.id}' and s.timestamp >= ${Math.min(...times)}`,
    )
    const stored = new Map(rows.map(({ timestamp, co2 }) => [Number(timestamp), Number(co2)]))
    expect(stored.size, 'no sample is there twice').toBe(rows.length)
    expect(
      [...times].filter((time) => stored.get(time) !== time % 5000),
      'lost samples',
    ).toEqual([])
  }

  const operations = await site.sql(
    `select id, state, payload from operations where payload like '%c${cycle}-%' and endpoint_id = '${fleet.commanded.id}'`,
  )
  const states = new Map(operations.map(({ id, state }) => [String(id), String(state)]))
  expect(new Set(operations.map(({ payload }) => payload)).size, 'no command is there twice').toBe(operations.length)
  expect(
    [...work.commands.values()].filter((id) => !states.has(id)),
    'lost commands',
  ).toEqual([])
  const unfinished = [...work.finishedCommands].filter((id) => states.has(id) && states.get(id) !== 'SUCCEEDED')
  expect(unfinished, 'lost results of commands').toEqual([])
}

/** A restart sends unfinished commands again, and none whose success was acknowledged. */
async function expectNoRepeats({ commanded }: Fleet, before: number, finished: ReadonlySet<string>): Promise<void> {
  const repeated = commanded.received
    .slice(before)
    .filter(({ kind, body }) => kind === 'operation' && finished.has(body.id))
  expect(repeated, 'commands that were finished and sent again').toEqual([])
}

export interface KillFigures {
  readonly readyMs: readonly number[]
  /** Numbers of acknowledged items over all cycles. */
  readonly totals: { readonly writes: number; readonly samples: number; readonly commands: number }
}

export async function killCycles(site: Site, { kills, seed }: EnduranceCounts): Promise<KillFigures> {
  const choices = new SeededChoices(seed)
  const mqttPort = await freePort()
  const options = ['--mqtt-port', String(mqttPort), '--rate-limit', '0', '--log-level', 'error']
  const first = await site.serve(...options)
  const fleet = await enrolFleet(first, mqttPort)
  const totals = { writes: 0, samples: 0, commands: 0 }
  const finished = new Set<string>()
  const readyMs: number[] = []
  let server = first
  for (let cycle = 1; cycle <= kills; cycle++) {
    const { promise: gone, reject: endWork } = Promise.withResolvers<never>()
    gone.catch(() => {})
    const work: CycleWork = {
      regions: new Set(),
      samples: new Map(fleet.senders.map((device) => [device, new Set()])),
      commands: new Map(),
      finishedCommands: new Set(),
      isKilled: false,
      gone,
    }
    const receivedBefore = fleet.commanded.received.length
    await Promise.all([...fleet.senders, fleet.commanded].map((device) => device.connect()))
    const working = workOn(server, first, fleet, cycle, work)
    await Promise.race([
      working,
      until('some of everything is acknowledged', () => work.regions.size > 3 && work.finishedCommands.size > 1),
    ])
    await pause(choices.below(300))
    work.isKilled = true
    await server.stop('SIGKILL')
    endWork(new Error('the server was killed'))
    await working
    // Acknowledgements that are still missing never come, so the clients must not wait for them.
    for (const { client } of [...fleet.senders, fleet.commanded]) client.end(true)
    await expectNoRepeats(fleet, receivedBefore, finished)
    const started = performance.now()
    const next = cycle < kills ? await site.serve(...options) : await site.serveHere(...options)
    readyMs.push(performance.now() - started)
    expect((await send(next.url, 'GET', '/readyz')).status).toBe(200)
    await check(site, fleet, cycle, work)
    for (const id of work.finishedCommands) finished.add(id)
    totals.writes += work.regions.size
    totals.samples += [...work.samples.values()].reduce((sum, times) => sum + times.size, 0)
    totals.commands += work.commands.size
    if (next instanceof Program) server = next
    else await next.stop()
  }
  if (server.isRunning) await server.stop()
  const verified = await site.run('audit', 'verify')
  expect(verified, verified.stderr).toMatchObject({ code: 0 })
  report('kill -9', seed, {
    cycles: kills,
    ...totals,
    'ready p50 ms': Math.round(percentile(readyMs, 50)),
    'ready max ms': Math.round(Math.max(...readyMs)),
  })
  return { readyMs, totals }
}
