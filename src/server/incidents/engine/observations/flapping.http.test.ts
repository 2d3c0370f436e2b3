// Devices that go and come back many times: the whole way from their connections to one incident and its messages. [contract 10.rule]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../../test/support/devices/test-device.ts'
import {
  type Harness,
  hasOneNode,
  quickTasks,
  startHarness,
  type TestOrg,
} from '../../../../../test/support/harness.ts'
import {
  countFindings,
  cut,
  incidentsOnce,
  newReceiver,
  newIncidentRoom as newRoom,
  typesOf,
} from '../../../../../test/support/incidents/device-incidents.ts'
import { isFullForm } from '../../../../../test/support/long-form.ts'
import { until } from '../../../../../test/support/program.ts'
import { minuteMs } from '../../../../contract/durations.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ settleMinutes: 0 }, quickTasks)
  // Presence counts from now on.
  harness.clock.advance(6 * minuteMs)
})
afterAll(() => harness.close())

const countRows = (org: TestOrg) => countFindings(harness, org)

test('a device that disconnects 20 times in 2 hours is one incident and two messages [contract 10.rule]', async () => {
  const org = await harness.newOrg()
  const receiver = await newReceiver(org)
  const roomId = await newRoom(org, 'Fjord')
  const device = await newDevice(harness, org, { roomId })
  for (let flaps = 0; flaps < 20; flaps++) {
    harness.clock.advance(3 * minuteMs)
    await cut(org, device)
    harness.clock.advance(3 * minuteMs)
    await device.connect()
  }
  await incidentsOnce(org, 'an incident is open', ({ length }) => length > 0)
  harness.clock.advance(2 * minuteMs)
  await until('it is told', () => receiver.received.length > 0)
  harness.clock.advance(61 * minuteMs)
  const all = await incidentsOnce(org, 'it is resolved', ([incident]) => incident.state === 'RESOLVED')
  expect(all).toMatchObject([{ rule: 'device.flapping', cause: { level: 'ENDPOINT', id: device.id }, occurrences: 1 }])
  await until('its end is told', () => receiver.received.length > 1)
  expect(typesOf(receiver)).toEqual(['incident.opened', 'incident.resolved'])
  await device.close()
})

// The short form has one way to flap on three nodes.
test.runIf(hasOneNode || isFullForm)(
  'a device that is away for over 5 minutes each of 20 times in 2 hours is one incident and two messages [contract 10.rule]',
  async () => {
    const org = await harness.newOrg()
    const receiver = await newReceiver(org)
    const roomId = await newRoom(org, 'Fjord')
    const [device] = await Promise.all([newDevice(harness, org, { roomId }), newDevice(harness, org, { roomId })])
    for (let flaps = 0; flaps < 20; flaps++) {
      harness.clock.advance(40_000)
      await cut(org, device)
      harness.clock.advance(5 * minuteMs + 20_000)
      await incidentsOnce(org, 'it is offline', ({ length }) => length > 0)
      // A channel that sends nothing for an hour is an incident too, and these hours pass in seconds.
      if (flaps === 1) await until('its opening is told', () => receiver.received.length > 0)
      await device.connect()
    }
    harness.clock.advance(2 * minuteMs + 1000)
    await incidentsOnce(org, 'it is resolved', ([incident]) => incident.state === 'RESOLVED')
    await until('its end is told', () => receiver.received.length > 1)
    harness.clock.advance(61 * minuteMs)
    await until('no finding is left', async () => (await countRows(org)).rows === 0)
    const all = (await org.call('GET', '/incidents?state=all')).body.incidents
    expect(all).toMatchObject([{ rule: 'device.offline', cause: { level: 'ENDPOINT', id: device.id }, occurrences: 1 }])
    expect(typesOf(receiver)).toEqual(['incident.opened', 'incident.resolved'])
    await device.close()
  },
)

test('a device that stopped for good is the first row by duration, before one that flaps since then [contract 10.rule]', async () => {
  const org = await harness.newOrg()
  const [fjord, oslo] = [await newRoom(org, 'Fjord'), await newRoom(org, 'Oslo')]
  const stopped = await newDevice(harness, org, { roomId: fjord })
  const flapping = await newDevice(harness, org, { roomId: oslo })
  await cut(org, stopped)
  for (let flaps = 0; flaps < 8; flaps++) {
    harness.clock.advance(3 * minuteMs)
    await cut(org, flapping)
    harness.clock.advance(3 * minuteMs)
    await flapping.connect()
  }
  const all = await incidentsOnce(org, 'both are open', ({ length }) => length === 2)
  expect(all.toSorted((a, b) => a.since.localeCompare(b.since)).map(({ rule }) => rule)).toEqual([
    'device.offline',
    'device.flapping',
  ])
  await flapping.close()
})
