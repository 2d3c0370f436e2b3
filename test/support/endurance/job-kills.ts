// Kills a server with SIGKILL again and again while jobs run, and checks that no endpoint is changed twice and none is forgotten.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { devicePaths } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../devices/test-device.ts'
import { type Reply, send } from '../harness.ts'
import { connectAnswering } from '../jobs/answering-device.ts'
import { expectOnce, UnitProgress } from '../jobs/unit-progress.ts'
import { freePort, type Server, type Site, until } from '../program.ts'
import { report } from './counts.ts'
import { SeededChoices } from './random.ts'

const model = 'NF19B1'
const roomCount = 12
/** Few at once, so that a job takes several runs of the engine. */
const pace = { atOnce: 3 }
/** A job of this size takes about so long. */
const jobMs = 6000

/** By turns: a config in stages that is rolled back when it is everywhere, a message, and a config at once. */
function jobOf(n: number) {
  const config = { type: 'CONFIG', config: { brightness: (n % 100) / 100 } }
  const stages = [{ rooms: 4 }, { percent: 100 }]
  if (n % 3 === 1) return { action: config, stages, soakMinutes: 0, pace: { atOnce: 6 }, isRolledBack: true }
  return { action: n % 3 === 2 ? { type: 'MESSAGE', message: `Message of job ${n}.` } : config, isRolledBack: false }
}

/** Returns how many jobs have ended. */
export async function jobKills(site: Site, { kills, seed }: { kills: number; seed: number }): Promise<number> {
  const choices = new SeededChoices(seed)
  const mqttPort = await freePort()
  const serve = () => site.serve('--mqtt-port', String(mqttPort), '--rate-limit', '0', '--log-level', 'error')
  const { org, key, ...first } = await serve().then((server) => ({ server, org: server.org, key: server.key }))
  let server: Server = first.server
  const call = (method: string, path: string, body?: object): Promise<Reply> =>
    send(server.url, method, `/v1/orgs/${org}${path}`, { key, ...(body && { body }) })
  const devices: TestDevice[] = []
  const roomIds: number[] = []
  for (let i = 0; i < roomCount; i++) {
    const room = (await call('POST', '/rooms', { name: `Room ${i}` })).body
    const wanted = { code: room.dec, serial: `JOB${i}`, model }
    const { body } = await send(server.url, 'POST', devicePaths.enrol, { body: wanted })
    devices.push(new TestDevice(mqttPort, wanted.serial, model, body))
    roomIds.push(room.id)
  }
  await Promise.all(devices.map(connectAnswering))

  const configs = () =>
    site.sql("select endpoint_id, explicit from endpoint_configs where explicit <> '{}' order by endpoint_id")
  let [ended, rolledBack] = [0, 0]
  let progress = new UnitProgress()
  let before = await configs()
  const start = async (): Promise<string> => {
    const n = ended + 1
    before = await configs()
    const { isRolledBack: _, ...job } = jobOf(n)
    const made = await call('POST', '/jobs', { name: `Job ${n}`, start: true, target: { roomIds }, pace, ...job })
    expect(made.status, made.text).toBe(200)
    progress = new UnitProgress()
    return made.body.id
  }
  const see = async (id: string) => progress.see((await call('GET', `/jobs/${id}/rooms`)).body.rooms)
  const hasEnded = async (id: string): Promise<boolean> => {
    await see(id)
    const job = (await call('GET', `/jobs/${id}`)).body
    if (job.state === 'RUNNING' || job.state === 'ROLLING_BACK') return false
    const end = job.state === 'ROLLED_BACK' ? 'ROLLED_BACK' : 'SUCCEEDED'
    expect(job).toMatchObject({ state: end, counts: { [end]: roomCount } })
    await expectOnce(
      (sql) => site.sql(sql),
      job,
      devices.map((device) => device.id),
    )
    if (end === 'SUCCEEDED' && jobOf(ended + 1).isRolledBack) {
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
    server = await serve()
    await see(id)
    await Promise.all(devices.map(connectAnswering))
  }
  await until('the last job has ended', () => hasEnded(id), { everyMs: 200, timeoutMs: 60_000 })
  for (const { client } of devices) client.end(true)
  report('kill -9 in jobs', seed, { kills, jobs: ended, rolledBack, rooms: ended * roomCount })
  return ended
}
