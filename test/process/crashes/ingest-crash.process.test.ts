// kill -9 while devices send samples: what was acknowledged is there, once; what was not may be sent again. [contract 5.2]
import { expect, onTestFinished, test } from 'vitest'
import { type DeviceSample, devicePaths } from '../../../src/contract/device/protocol.ts'
import { TestDevice } from '../../support/devices/test-device.ts'
import { freePort } from '../../support/free-port.ts'
import { send } from '../../support/harness.ts'
import { isFullForm } from '../../support/long-form.ts'
import { type ServerHere, type Site, siteForTest, until } from '../../support/program.ts'

interface Sent {
  readonly samples: readonly DeviceSample[]
  isAcknowledged: boolean
}

/** Each device has sent at least so many between two kills. */
const messagesPerKill = isFullForm ? 200 : 60

const co2Of = (timestamp: number) => timestamp % 5000

/** Sends without end, four messages at a time, single samples and batches. */
class Sender {
  readonly device: TestDevice
  readonly sent: Sent[] = []
  #next = Math.floor(Date.now() / 1000) - 20 * 86_400

  constructor(device: TestDevice) {
    this.device = device
  }

  get acknowledged(): Sent[] {
    return this.sent.filter(({ isAcknowledged }) => isAcknowledged)
  }

  get unacknowledged(): Sent[] {
    return this.sent.filter(({ isAcknowledged }) => !isAcknowledged)
  }

  /** A message that is not acknowledged when the connection ends never will be. */
  async start(): Promise<void> {
    await this.device.connect()
    for (let i = 0; i < 4; i++) void this.#sendOn().catch(() => {})
  }

  async #sendOn(): Promise<void> {
    for (let i = 0; ; i++) {
      const samples = Array.from({ length: i % 5 === 0 ? 60 : 1 }, () => {
        const timestamp = this.#next++
        return { timestamp, co2: co2Of(timestamp) }
      })
      const message = { samples: samples.reverse(), isAcknowledged: false }
      this.sent.push(message)
      await this.device.publish('sample', { samples })
      message.isAcknowledged = true
    }
  }
}

/** Time and value of what is in the database, the oldest first. */
async function stored(site: Site, { id }: TestDevice): Promise<[timestamp: number, co2: number][]> {
  const rows = await site.sql(
    `select s.timestamp, s.co2 from samples s join endpoints e on e.org = s.org and e.number = s.endpoint where e.id = '${id}' order by s.timestamp`,
  )
  return rows.map(({ timestamp, co2 }) => [Number(timestamp), Number(co2)])
}

/** Every sample that is there is in its rollup, or its quarter is due. */
async function expectNoneForgotten(site: Site): Promise<void> {
  const [row] = await site.sql(
    `select count(*) as lost from
        (select org, endpoint, timestamp / 900 as slot, count(*) as n from samples group by org, endpoint, timestamp / 900) s
      left join (select org, endpoint, slot, sum(co2_count) as n from sample_quarters group by org, endpoint, slot) q
        on q.org = s.org and q.endpoint = s.endpoint and q.slot = s.slot
      left join sample_due d on d.org = s.org and d.endpoint = s.endpoint and d.slot = s.slot
      where d.slot is null and (q.n is null or q.n <> s.n)`,
  )
  expect(Number(row?.lost)).toBe(0)
}

test('kill -9 in the middle of ingest loses nothing acknowledged, and nothing is there twice', async () => {
  const site = await siteForTest()
  const mqttPort = await freePort()
  const options = ['--mqtt-port', String(mqttPort)]
  const first = await site.serve(...options)
  const call = async (server: ServerHere, method: string, path: string, body?: unknown) => {
    const reply = await send(server.url, method, `/v1/orgs/${first.org}${path}`, { key: first.key, body })
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const { dec } = await call(first, 'POST', '/rooms', { name: 'Fjord' })
  const senders: Sender[] = []
  for (const serial of ['S1', 'S2', 'S3', 'S4', 'S5']) {
    const body = { code: dec, serial, model: 'NF19B1' }
    const answer = await send(first.url, 'POST', devicePaths.enrol, { body })
    const device = new TestDevice(mqttPort, serial, 'NF19B1', answer.body)
    onTestFinished(() => device.close())
    senders.push(new Sender(device))
  }

  let later: ServerHere | undefined
  // These samples were sent twice, the second time with another value.
  const corrected = new Set<string>()
  // Without the full form one kill is enough if it was in the middle.
  for (let kill = 1; kill <= 3 && (isFullForm || corrected.size === 0); kill++) {
    await later?.stop()
    const server = kill === 1 ? first : await site.serve(...options)
    await Promise.all(senders.map((sender) => sender.start()))
    await until('many are acknowledged', () =>
      senders.every(({ acknowledged }) => acknowledged.length >= kill * messagesPerKill),
    )
    await server.stop('SIGKILL')
    await Promise.all(senders.map(({ device }) => device.ended()))
    later = await site.serveHere(...options)

    for (const { device, acknowledged, unacknowledged } of senders) {
      const before = await stored(site, device)
      const times = new Set(before.map(([timestamp]) => timestamp))
      expect(times.size, 'none is there twice').toBe(before.length)
      for (const [timestamp, co2] of before) {
        expect(co2).toBe(corrected.has(`${device.id} ${timestamp}`) ? 9999 : co2Of(timestamp))
      }
      const there = ({ samples }: Sent) => samples.filter(({ timestamp }) => times.has(timestamp)).length
      for (const message of acknowledged) expect(there(message)).toBe(message.samples.length)
      for (const message of unacknowledged) expect([0, message.samples.length]).toContain(there(message))
      const [newest, co2] = before.at(-1) ?? []
      const latest = await call(later, 'GET', `/endpoints/${device.id}/sensor`)
      expect(latest.endpointData.data[0]).toMatchObject({ timestamp: String(newest), co2 })

      // Said once more, with another value: what was there stays as it was, what was not comes.
      await device.connect()
      const missing = unacknowledged.filter((message) => there(message) === 0).flatMap(({ samples }) => samples)
      for (const { timestamp } of missing) corrected.add(`${device.id} ${timestamp}`)
      for (const message of unacknowledged) {
        await device.publish('sample', { samples: message.samples.map((sample) => ({ ...sample, co2: 9999 })) })
        message.isAcknowledged = true
      }
      const added = missing.map(({ timestamp }) => [timestamp, 9999] as [number, number])
      expect(await stored(site, device)).toEqual([...before, ...added].sort(([a], [b]) => a - b))
      await device.close()
    }
    await expectNoneForgotten(site)
  }
  expect(corrected.size, 'it was in the middle').toBeGreaterThan(0)
})
