// A short outage of PostgreSQL while devices are connected: none is disconnected, and what they send is stored afterwards, in order.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createDatabase, dropDatabase } from '../../support/database/postgres-tables.ts'
import { storedTimes } from '../../support/database/stored-samples.ts'
import { newDevice } from '../../support/devices/test-device.ts'
import { startHarness } from '../../support/harness.ts'
import { until } from '../../support/program.ts'
import { wireTo } from '../../support/severable-proxy.ts'
import { shortenLimits } from '../../support/short-limits.ts'

/** The outage is longer than a connection to PostgreSQL stays without an answer, and shorter than devices are kept in an outage. */
const { limits } = shortenLimits(0.1)
const outageMs = limits.databaseAnswerMs + 500
/** While fewer than eight messages of a device wait, the service reads from it. */
const waitingCount = 7

test.each([
  ['restarts', 'cut', 'mend'],
  ['is behind a network that swallows packets', 'swallow', 'release'],
] as const)('PostgreSQL that %s: no device is disconnected [contract 8.outage]', async (_, begin, end) => {
  const { name, databaseUrl } = await createDatabase(inject('postgresUrl'))
  onTestFinished(() => dropDatabase(inject('postgresUrl'), name))
  const wire = await wireTo(databaseUrl)
  const url = new URL(databaseUrl)
  url.port = String(wire.port)
  const harness = await startHarness({ databaseUrl: url.href }, { limits })
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const devices = await Promise.all([1, 2, 3].map(() => newDevice(harness, org, { roomId })))
  const late = await newDevice(harness, org, { roomId, offline: true })
  const closed: string[] = []
  for (const { id, client } of devices) client.on('close', () => closed.push(id))
  const start = Math.floor(Date.now() / 1000) - 1000

  wire[begin]()
  await until('the outage is noticed', async () => (await harness.call('GET', '/readyz')).status === 503)
  const acknowledged: string[] = []
  const sending = devices.map(async (device) => {
    const sent = Array.from({ length: waitingCount }, async (_, i) => {
      await device.publish('status', { firmwareVersion: `${i + 1}` })
      acknowledged.push(`${device.id} status ${i + 1}`)
      await device.publish('sample', { samples: [{ timestamp: start + i, co2: 400 + i }] })
    })
    await Promise.all(sent)
  })
  await expect(late.connect(), 'a new connection is refused for now').rejects.toMatchObject({ code: 3 })
  for (const { client } of devices) {
    const answered = new Promise((resolve) => client.once('packetreceive', ({ cmd }) => resolve(cmd)))
    client.sendPing()
    expect(await Promise.race([answered, sleep(1000)]), 'a PINGREQ is answered at once').toBe('pingresp')
  }
  await sleep(outageMs)
  expect(acknowledged, 'nothing is acknowledged that is not stored').toEqual([])

  wire[end]()
  await Promise.all(sending)
  expect(closed).toEqual([])
  for (const { id } of devices) {
    expect(await storedTimes(harness, org, id)).toEqual(Array.from({ length: waitingCount }, (_, i) => start + i))
    const { body } = await org.call('GET', `/endpoints/${id}`)
    expect(body).toMatchObject({ connected: true, firmwareVersion: `${waitingCount}` })
  }
  await Promise.all(devices.map((device) => device.close()))
})
