// Kills a server with SIGKILL again and again while jobs run, and checks that no endpoint is changed twice and none is forgotten.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { devicePaths } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../devices/test-device.ts'
import { freePort } from '../free-port.ts'
import { type Reply, send } from '../harness.ts'
import { connectAnswering, executedRestarts } from '../jobs/answering-device.ts'
import { expectOnce, UnitProgress } from '../jobs/unit-progress.ts'
import { type Site, until } from '../program.ts'
import { report } from './counts.ts'
import { SeededChoices } from './random.ts'

const model = 'NF19B1'
const roomCount = 12
/** Few at the same time, so that a job takes several runs of the engine. */
const pace = { atOnce: 3 }
/** A job of this size takes about so long. */
const jobMs = 6000

interface KilledJob {
  readonly request: object
  /** A person rolls it back when it is everywhere. */
  readonly isRolledBack?: boolean
  /** A device rejects the setting, so that the job stops and is rolled back by itself. */
  readonly fails?: boolean
}

/** The key that the first device rejects. */
const rejectedKey = 'nightMode'

/** By turns: a restart, a config that fails, a config in stages that is rolled back, a message, and a config with a soak. */
function jobOf(n: number): KilledJob {
  const stages = [{ rooms: 4 }, { percent: 100 }]
  const config = { type: 'CONFIG', config: { brightness: (n % 100) / 100 } }
  switch (n % 5) {
    case 1:
      return { request: { action: { type: 'REBOOT' } } }
    case 2: {
      const action = { type: 'CONFIG', config: { [rejectedKey]: true } }
      return { request: { action, stages, soakMinutes: 1, pace: { atOnce: 6 } }, fails: true }
    }
    case 3:
      return { request: { action: config, stages, soakMinutes: 0, pace: { atOnce: 6 } }, isRolledBack: true }
    case 4:
      return { request: { action: { type: 'MESSAGE', message: `Message of job ${n}.` } } }
    default:
      return { request: { action: config, stages: [{ percent: 100 }], soakMinutes: 1 } }
  }
}

/** Returns how many jobs have ended. */
export async function jobKills(site: Site, { kills, seed }: { kills: number; seed: number }): Promise<number> {
  const choices = new SeededChoices(seed)
  const mqttPort = await freePort()
  const options = ['--mqtt-port', String(mqttPort), '--rate-limit', '0', '--log-level', 'error']
  let server = await site.serve(...options)
  const { org, key } = server
  let { url } = server
  const call = (method: string, path: string, body?: object): Promise<Reply> =>
    send(url, method, `/v1/orgs/${org}${path}`, { key, ...(body && { body }) })
  const devices: TestDevice[] = []
  const roomIds: number[] = []
  for (let i = 0; i < roomCount; i++) {
    const room = (await call('POST', '/rooms', { name: `Room ${i}` })).body
    const wanted = { code: room.dec, serial: `JOB${i}`, model }
    const { body } = await send(url, 'POST', devicePaths.enrol, { body: wanted })
    devices.push(new TestDevice(mqttPort, wanted.serial, model, body))
    roomIds.push(room.id)
  }
  const connectAll = () =>
    Promise.all(devices.map((device, i) => connectAnswering(device, { rejects: i === 0 ? [rejectedKey] : [] })))
  await connectAll()

  const configs = () =>
    site.sql("select endpoint_id, explicit from endpoint_configs where explicit <> '{}' order by endpoint_id")
  const countRestarts = () => devices.map((device) => executedRestarts(device).length)
  let [ended, rolledBack] = [0, 0]
  let restartsBefore = countRestarts()
  let progress = new UnitProgress()
  let before = await configs()
  const start = async (): Promise<string> => {
    const n = ended + 1
    before = await configs()
    restartsBefore = countRestarts()
    const { request } = jobOf(n)
    const made = await call('POST', '/jobs', { name: `Job ${n}`, start: true, target: { roomIds }, pace, ...request })
    expect(made.status, made.text).toBe(200)
    progress = new UnitProgress()
    return made.body.id
  }
  const see = async (id: string) => progress.see((await call('GET', `/jobs/${id}/rooms`)).body.rooms)
  const hasEnded = async (id: string): Promise<boolean> => {
    await see(id)
    const job = (await call('GET', `/jobs/${id}`)).body
    if (['RUNNING', 'STOPPED', 'ROLLING_BACK'].includes(job.state)) return false
    const { isRolledBack, fails } = jobOf(ended + 1)
    const end = fails || job.state === 'ROLLED_BACK' ? 'ROLLED_BACK' : 'SUCCEEDED'
    expect(job.state).toBe(end)
    const units: { state: string; endpoints: { endpointId: string }[] }[] = (await call('GET', `/jobs/${id}/rooms`))
      .body.rooms
    // A job that stops has not begun everywhere.
    const touched = units.filter(({ state }) => state === end)
    const others = units.filter(({ state }) => state !== end && !(fails && state === 'CANCELLED'))
    expect([units.length, others, fails || touched.length === roomCount]).toEqual([roomCount, [], true])
    const touchedIds = touched.flatMap(({ endpoints }) => endpoints.map(({ endpointId }) => endpointId))
    await expectOnce((sql) => site.sql(sql), job, touchedIds)
    if (job.action.type === 'REBOOT') {
      expect(countRestarts(), 'restarts').toEqual(restartsBefore.map((count) => count + 1))
    }
    if (end === 'SUCCEEDED' && isRolledBack) {
      // Without `now` a rollback that keeps to the pace looks at its rooms every 10 s.
      expect((await call('POST', `/jobs/${id}/roll_back`, { now: true })).status).toBe(200)
      return false
    }
    if (end === 'ROLLED_BACK') {
      expect(await configs(), `configs after the rollback of job ${id}`).toEqual(before)
      rolledBack++
    }
    ended++
    return true
  }

  let id = await start()
  for (let kill = 0; kill < kills; kill++) {
    if (await hasEnded(id)) id = await start()
    await pause(choices.below(jobMs))
    await see(id)
    await server.stop('SIGKILL')
    for (const { client } of devices) client.end(true)
    if (kill < kills - 1) {
      server = await site.serve(...options)
      url = server.url
    } else url = (await site.serveHere(...options)).url
    await see(id)
    await connectAll()
  }
  await until('the last job has ended', () => hasEnded(id), { everyMs: 200, timeoutMs: 150_000 })
  for (const { client } of devices) client.end(true)
  report('kill -9 in jobs', seed, { kills, jobs: ended, rolledBack, rooms: ended * roomCount })
  return ended
}
