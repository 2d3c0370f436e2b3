// A full disk under ingest: nothing is acknowledged, everybody is told why, and all goes on when there is space. [contract 5.2]
import { expect, onTestFinished, test } from 'vitest'
import { diskOf } from '../../support/database/full-disk.ts'
import { storedTimes } from '../../support/database/stored-samples.ts'
import { newDevice, type TestDevice } from '../../support/devices/test-device.ts'
import { type Harness, startHarness } from '../../support/harness.ts'
import { until } from '../../support/program.ts'

async function smallHouse() {
  const harness = await startHarness()
  onTestFinished(() => harness.close())
  const org = await harness.newOrg()
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
  const newOne = () => newDevice(harness, org, { roomId })
  return { harness, org, newOne, ...diskOf(harness) }
}

const waves = (start: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ timestamp: start + i, co2: 400 + (i % 1000), people: i % 9 }))

/** As a device does that was not answered: connect again, say it again, until it is acknowledged. */
async function sendAgain(harness: Harness, device: TestDevice, samples: unknown): Promise<void> {
  await until('it is acknowledged', async () => {
    harness.clock.advance(2000)
    return device.connect().then(
      () => Promise.race([device.publish('sample', { samples }).then(() => true), device.ended().then(() => false)]),
      () => false,
    )
  })
}

test('while the disk is full nothing is acknowledged, and nothing is lost or twice when there is space again', async () => {
  const { harness, org, newOne, fill, free } = await smallHouse()
  const start = Math.floor(harness.clock.now() / 1000) - 86_400
  const devices = await Promise.all([1, 2, 3].map(newOne))
  for (const device of devices) await device.publish('sample', { samples: waves(start, 10) })
  await fill()

  const acknowledged = new Map(devices.map((device) => [device, 10]))
  const refused = devices.map(async (device) => {
    // Some room is left in pages that are there; then it is full.
    for (let next = 10; ; next += 500) {
      const isTaken = device.publish('sample', { samples: waves(start + next, 500) }).then(() => true)
      if (!(await Promise.race([isTaken, device.ended(20_000).then(() => false)]))) return
      acknowledged.set(device, next + 500)
    }
  })
  await Promise.all(refused)
  for (const device of devices) {
    expect(await storedTimes(harness, org, device.id)).toEqual(
      waves(start, acknowledged.get(device) as number).map(({ timestamp }) => timestamp),
    )
  }
  const latest = await org.call('GET', `/endpoints/${devices[0]?.id}/sensor`)
  expect(latest.status, 'reads go on').toBe(200)
  const write = () => org.call('POST', '/regions', { body: { name: 'x'.repeat(100) } })
  const answer = await until('a write is refused', async () => {
    const reply = await write()
    return reply.status === 200 ? undefined : reply
  })
  expect(answer.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  expect(answer.body.message).toMatch(/^The disk of the database is full, and nothing was changed/)
  expect(answer.headers.get('retry-after')).toBe('5')
  const count = (await org.call('GET', '/regions')).body.regions.length
  expect((await write()).status).toBe(503)
  expect((await org.call('GET', '/regions')).body.regions, 'nothing was changed').toHaveLength(count)

  await free()
  for (const device of devices) {
    const next = acknowledged.get(device) as number
    await sendAgain(harness, device, waves(start + next, 500))
    expect(await storedTimes(harness, org, device.id)).toEqual(
      waves(start, next + 500).map(({ timestamp }) => timestamp),
    )
    await device.close()
  }
  expect((await write()).status).toBe(200)
  const metrics = await (await fetch(`${harness.url}/metrics`)).text()
  expect(metrics, 'what failed holds no place').toMatch(/^roomkeeper_device_bytes_under_way 0$/m)
})

test('the log says it once, not for every message and device', async () => {
  const { harness, newOne, fill, free } = await smallHouse()
  const start = Math.floor(harness.clock.now() / 1000) - 86_400
  const devices = await Promise.all(Array.from({ length: 8 }, newOne))
  await fill()
  // The log has one such line a minute.
  harness.clock.fix()
  for (const device of devices) {
    for (let i = 0; i < 4; i++) {
      void device.publish('sample', { samples: waves(start + 500 * i, 500) }).catch(() => {})
    }
  }
  await Promise.all(devices.map((device) => device.ended()))
  const said = harness.logged.filter(({ msg }) => String(msg).startsWith('a message could not be stored'))
  expect(said).toHaveLength(1)
  expect(said[0]?.reason).toMatch(/^The disk of the database is full/)
  await free()
})
