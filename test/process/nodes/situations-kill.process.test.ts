// kill -9 of two nodes of three: their devices are offline in time, what was acknowledged is there, and the third goes on with all of their work.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Receiver } from '../../support/channels/receiver.ts'
import { countCpuWaits } from '../../support/cpu-time.ts'
import type { TestDevice } from '../../support/devices/test-device.ts'
import type { Reply } from '../../support/harness.ts'
import { connectAnswering } from '../../support/jobs/answering-device.ts'
import { expectOnce, UnitProgress } from '../../support/jobs/unit-progress.ts'
import { isFullForm } from '../../support/long-form.ts'
import { type NodeCluster, startSharedCluster } from '../../support/nodes/node-cluster.ts'
import type { ServerNode } from '../../support/nodes/server-node.ts'
import {
  callAt,
  connectedAt,
  deviceAt,
  type EnrolledDevice,
  enrolAt,
  newRoom,
  padModel,
  untilOffline,
} from '../../support/nodes/situation.ts'
import { until } from '../../support/program.ts'

const offlineWithinMs = 6000
const tasksWithinMs = 20_000
/** With a beat more than the 15 s that a node must have been up before it declares another one dead. */
const observingAfterMs = 16_500
/** For the test's own reads. */
const slackMs = 1500
const jobRooms = 8
const offlineHoldMs = 300_000
/** The outage of the test is old enough to be an incident this long after its begin: by then the nodes are dead. */
const maturesAfterMs = 5000

let cluster: NodeCluster
let receiver: Receiver
/** The node that is not killed. */
let survivor: ServerNode
let killedAt: number
/** How long the survivor and the test have waited for a processor since then. */
let cpuWaitMs: () => number
/** How long each took from the kill on, without waits for a processor. */
let offlineAfterMs: Promise<number>
let movedAfterMs: Promise<number>
const lost: TestDevice[] = []
const open: TestDevice[] = []
const acknowledged: string[] = []

const call = (method: string, path: string, body?: object): Promise<Reply> =>
  callAt(cluster, survivor, method, path, body && { body })

async function connectAt(
  node: ServerNode,
  enrolled: EnrolledDevice,
  connect = (device: TestDevice) => device.connect(),
) {
  const device = deviceAt(node, enrolled)
  await connect(device)
  open.push(device)
  return device
}

const enrolIn = async (room: Reply['body'], model?: string) => enrolAt(survivor, room.dec, model)

/** A job about rooms one after the other, of which some are done. */
async function beginJob() {
  const devices: TestDevice[] = []
  const roomIds: number[] = []
  for (let i = 0; i < jobRooms; i++) {
    const room = await newRoom(cluster, survivor, `Room ${i}`)
    roomIds.push(room.id)
    devices.push(await connectAt(survivor, await enrolIn(room), connectAnswering))
  }
  const start = async () => {
    const action = { type: 'CONFIG', config: { nightMode: true } }
    const made = await call('POST', '/jobs', {
      name: 'Night',
      start: true,
      target: { roomIds },
      action,
      pace: { atOnce: 1 },
    })
    expect(made.status, made.text).toBe(200)
    const id: string = made.body.id
    await until('some rooms are done', async () => (await call('GET', `/jobs/${id}`)).body.counts.SUCCEEDED >= 2)
    return id
  }
  return { devices, start }
}

const askForReboot = async (id: string): Promise<string> =>
  (await call('POST', `/endpoints/${id}/reboot`, { when: 'idle' })).body.operations[0].id

/** One reboot was sent by a node that dies and is not acknowledged yet; the other waits for its device to connect. */
async function beginReboots(doomed: ServerNode) {
  const [sentTo, absent] = [
    await enrolIn(await newRoom(cluster, survivor), padModel),
    await enrolIn(await newRoom(cluster, survivor), padModel),
  ]
  const device = await connectAt(doomed, sentTo)
  await device.publish('status', {})
  const sent = await askForReboot(device.id)
  const attempt: string = (await device.next('operation', 15_000)).id
  const waiting = await askForReboot(absent.answer.endpointId)
  return { sentTo, absent, sent, attempt, waiting }
}

/** A receiver holds the first of three messages about an endpoint, so that the node that sends it dies in the middle of the request. */
async function beginDelivery() {
  receiver.answer = () => undefined
  const channel = { name: 'Log', kind: 'webhook', url: receiver.url, events: ['operation.finished'] }
  expect((await call('POST', '/channels', channel)).status).toBe(200)
  const device = await connectAt(survivor, await enrolIn(await newRoom(cluster, survivor)), connectAnswering)
  const finished: string[] = []
  for (let i = 0; i < 3; i++) {
    const { operations } = (
      await call('POST', '/endpoints/send_message', { message: `${i}`, endpointIds: [device.id] })
    ).body
    const { id } = operations[0]
    await until('it is done', async () => (await call('GET', `/operations/${id}`)).body.state === 'SUCCEEDED')
    finished.push(id)
    await until('the receiver holds the first message', () => receiver.received.length === 1)
  }
  return finished
}

/** Both devices of a room go offline. The rows say that it was nearly 5 minutes ago, at a service that has been up for an hour. */
async function beginOutage(devices: readonly TestDevice[]) {
  for (const device of devices) await device.close()
  const ids = devices.map(({ id }) => id)
  const count = async () => (await connectedAt(cluster, survivor)).intersection(new Set(ids)).size
  await until('they are offline', async () => (await count()) === 0)
  await cluster.query('update nodes set started_at = started_at - 3600000')
  const since = Date.now() - offlineHoldMs + maturesAfterMs
  await cluster.query('update endpoints set connection_time = $1 where id = any($2)', [since, ids])
}

/** Between two writes of a writer. In the short form less is written while the outage is prepared, which takes a second. */
const writePauseMs = isFullForm ? 0 : 30

/** Writes at the nodes that are killed, until they are. */
async function writeUntilKilled(writer: number, doomed: readonly ServerNode[]): Promise<void> {
  const node = doomed[writer % doomed.length] as ServerNode
  for (let i = 0; node.isRunning; i++) {
    const name = `${writer}-${i}`
    const reply = await callAt(cluster, node, 'POST', '/regions', { body: { name } }).catch(() => undefined)
    if (reply?.status === 200) acknowledged.push(name)
    await pause(writePauseMs)
  }
}

let job: { id: string; devices: readonly TestDevice[] }
let reboots: Awaited<ReturnType<typeof beginReboots>>
let finished: readonly string[]
let outageRoom: number

/** The scheduled tasks that another node than the survivor holds, or held when it died. */
const tasksElsewhere = () =>
  cluster.query("select t.name from tasks t join nodes n on n.id = t.node_id where n.name <> $1 or n.state <> 'up'", [
    survivor.name,
  ])

beforeAll(async () => {
  cluster = await startSharedCluster(3)
  receiver = await Receiver.listen()
  const [first, second, third] = [cluster.node(0), cluster.node(1), cluster.node(2)]
  survivor = third
  const room = await newRoom(cluster, third)
  for (const node of [first, first, first, second, second]) lost.push(await connectAt(node, await enrolIn(room)))
  const outage = await newRoom(cluster, third, 'Cellar')
  outageRoom = outage.id
  const gone = [await connectAt(third, await enrolIn(outage)), await connectAt(third, await enrolIn(outage))]
  const { devices, start } = await beginJob()
  reboots = await beginReboots(second)
  finished = await beginDelivery()
  await pause(Math.max(0, cluster.startedAt + observingAfterMs - performance.now()))

  job = { id: await start(), devices }
  const names = (await tasksElsewhere()).map(({ name }) => name)
  for (const name of [
    'advancing jobs',
    'delivering messages',
    'looking for incidents',
    'restarting devices of idle rooms',
  ]) {
    expect(names, 'a node that is killed has the task').toContain(name)
  }
  const writers = Promise.all([0, 1, 2, 3].map((writer) => writeUntilKilled(writer, [first, second])))
  await until('writers write', () => acknowledged.length > 20)
  await beginOutage(gone)
  killedAt = performance.now()
  cpuWaitMs = countCpuWaits(third.pid)
  await Promise.all([first.kill(), second.kill()])
  receiver.answer = () => ({ status: 204 })
  offlineAfterMs = untilOffline(cluster, third, lost, killedAt).then((ms) => ms - cpuWaitMs())
  const haveMoved = until('the tasks have moved', async () => (await tasksElsewhere()).length === 0, {
    timeoutMs: 30_000,
  })
  movedAfterMs = haveMoved.then(() => performance.now() - killedAt - cpuWaitMs())
  await writers
  expect((await call('GET', `/jobs/${job.id}`)).body.state, 'the job was in the middle').toBe('RUNNING')
})
afterAll(async () => {
  for (const { client } of open) client.end(true)
  receiver.close()
  await cluster.close()
})

test('their devices are offline within 6 s, and those of the third stay connected', async () => {
  expect(await offlineAfterMs).toBeLessThan(offlineWithinMs + slackMs)
  expect(await connectedAt(cluster, survivor)).toEqual(
    new Set(open.filter(({ client }) => client.connected).map(({ id }) => id)),
  )
})

test('the third shows their devices as reconnecting, and a device that left by itself as offline [contract 8.state]', async () => {
  await offlineAfterMs
  const { endpoints } = (await call('GET', '/endpoints')).body
  const seen = new Map<string, { state: string; since: string; connectionTime: string }>(
    endpoints.map((one: { id: string }) => [one.id, one]),
  )
  for (const { id } of lost) {
    const { state, since, connectionTime } = seen.get(id) ?? {}
    expect(state).toBe('UNKNOWN')
    expect(Date.parse(since ?? ''), 'since it connected, and not since its node ended').toBeLessThan(
      Date.parse(connectionTime ?? ''),
    )
  }
  const { rooms } = (await call('GET', '/rooms')).body
  expect(rooms.find(({ id }: { id: number }) => id === outageRoom)).toMatchObject({ state: 'OFFLINE' })
  expect(rooms.find(({ unknownCount }: { unknownCount?: number }) => unknownCount === lost.length)).toMatchObject({
    state: 'UNKNOWN',
  })
})

test('the third has all scheduled tasks within 20 s, and runs them', async () => {
  const [sender] = job.devices
  const timestamp = Math.floor(Date.now() / 1000) - 20 * 86_400
  await sender?.publish('sample', { samples: [{ timestamp, co2: 500 }] })
  const seconds = { offline: (await offlineAfterMs) / 1000, moved: (await movedAfterMs) / 1000 }
  process.stdout.write(
    `kill -9 of two nodes of three: devices offline after ${seconds.offline.toFixed(1)} s, scheduled tasks moved after ${seconds.moved.toFixed(1)} s\n`,
  )
  expect(seconds.moved * 1000).toBeLessThan(tasksWithinMs)
  await until(
    'the sample is rolled up',
    async () => (await cluster.query('select 1 from sample_quarters')).length > 0,
    { timeoutMs: tasksWithinMs + slackMs + cpuWaitMs() - (performance.now() - killedAt) },
  )
})

test('nothing that was acknowledged is lost or there twice', async () => {
  const names = (await call('GET', '/regions')).body.regions.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(acknowledged))
  expect(new Set(names).size).toBe(names.length)
})

test('a message whose node died in the middle of the request is sent again with its id, before the next ones about its subject', async () => {
  await until('all are delivered', () => receiver.accepted.length === finished.length)
  const [first, second, third] = finished
  const received = receiver.received.map(({ body, status }) => [body.data.operation.id, body.data.sequence, status])
  expect(received).toEqual([
    [first, 1, 0],
    [first, 1, 204],
    [second, 2, 204],
    [third, 3, 204],
  ])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids[1]).toBe(ids[0])
  expect(new Set(ids).size).toBe(finished.length)
})

test('a reboot that was under way, and one that waited, happen once each at the third [contract 12.when]', async () => {
  const { sentTo, absent, sent, attempt, waiting } = reboots
  for (const [enrolled, operation] of [
    [sentTo, sent],
    [absent, waiting],
  ] as const) {
    const device = await connectAt(survivor, enrolled)
    await device.publish('status', {})
    const command = await device.next('operation', 20_000)
    expect(command).toMatchObject({ type: 'REBOOT', onlyIfIdle: true })
    if (operation === sent) expect(command.id, 'the attempt is not made a second time').toBe(attempt)
    await device.publish('operation', { id: command.id, state: 'ACKNOWLEDGED' })
    device.drop()
    await device.connect()
    await device.publish('operation', { id: command.id, state: 'SUCCEEDED' })
    await until('it is done', async () => (await call('GET', `/operations/${operation}`)).body.state === 'SUCCEEDED')
    const attempts = await cluster.query('select id from operations where attempt_of = $1', [operation])
    expect(attempts).toEqual([{ id: command.id }])
    expect(device.received.filter(({ kind }) => kind === 'operation')).toHaveLength(1)
  }
})

test('a job goes on, and changes no endpoint twice [contract 12.states]', async () => {
  const progress = new UnitProgress()
  const ended = await until(
    'the job has ended',
    async () => {
      progress.see((await call('GET', `/jobs/${job.id}/rooms`)).body.rooms)
      const { body } = await call('GET', `/jobs/${job.id}`)
      return body.state === 'RUNNING' ? undefined : body
    },
    { everyMs: 200, timeoutMs: 60_000 },
  )
  expect(ended).toMatchObject({ state: 'SUCCEEDED', counts: { SUCCEEDED: jobRooms } })
  const ids = job.devices.map(({ id }) => id)
  await expectOnce((sql) => cluster.query(sql), ended, ids)
})

test('an outage that is old enough only after the kill is one incident, and so far the devices of the dead nodes are none [contract 10.start]', async () => {
  const list = async () => (await call('GET', '/incidents?state=all')).body.incidents
  const [incident, ...others] = await until('an incident is open', async () => {
    const incidents = await list()
    return incidents.length > 0 && incidents
  })
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    rule: 'device.offline',
    state: 'OPEN',
    cause: { level: 'ROOM', id: String(outageRoom) },
    occurrences: 1,
    subjectCount: 2,
  })
  const rows = await cluster.query('select opened_at - since as age from incidents')
  expect(rows.map(({ age }) => Number(age) >= offlineHoldMs)).toEqual([true])
})
