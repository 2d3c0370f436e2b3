// Tests that a simulated display sleeps: it reports standby, leaves the network, and is back in the morning.
import { expect, test } from 'vitest'
import { startHarness } from '../../test/support/harness.ts'
import { until } from '../../test/support/program.ts'
import { minuteMs } from '../contract/durations.ts'
import { requestEnrolment } from '../device/enrol.ts'
import { type FleetDevice, planFleet } from './plan.ts'
import { type FleetContext, SimulatedDevice } from './simulated-device.ts'

test('a display sleeps at night and comes back in the morning; one that a person switches off leaves too [contract 8.state]', async () => {
  const harness = await startHarness()
  const org = await harness.newOrg()
  const room = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  const plan = planFleet({ endpoints: 60, rooms: 24, locations: 6, regions: 3, otherMakers: true }, 1, org.id).devices
  const display = plan.filter(({ product }) => product === 'display').at(-1) as FleetDevice
  const inUtc = { ...display, room: { ...display.room, timezone: 'UTC' } }
  // The simulated time; the clock of the device runs for minutes while it changes.
  let at = Date.parse('2026-05-05T12:00:00Z')
  const counters = { connected: 0 } as FleetContext['counters']
  const device = new SimulatedDevice(inUtc, {
    ...{ sampleIntervalMs: minuteMs, callCheckIntervalMs: minuteMs, flap: 0, rejectConfig: 0, counters },
    simulatedTime: () => at,
    onStateChanged: () => {},
  })
  const { serial, model } = display
  const { connect, ...identity } = await requestEnrolment(harness.url, { code: room.dec, serial, model })
  const shown = async () => (await org.call('GET', `/endpoints/${identity.endpointId}`)).body
  const untilShown = (state: string, power: string) =>
    until(`${state}, ${power}`, async () => {
      const body = await shown()
      return body.state === state && body.power === power
    })
  const awake = Date.now() + 2 * minuteMs
  await device.createAgent(identity, connect).start()
  await untilShown('ONLINE', 'ON')
  expect(await shown()).toMatchObject({ kind: 'DISPLAY', manufacturer: 'Lumenor', sleeps: true })

  at = Date.parse('2026-05-05T19:00:00Z')
  device.tick(awake - minuteMs - 5_000)
  expect((await shown()).power, 'in the first minute').toBe('ON')
  device.tick(awake)
  await untilShown('ONLINE', 'STANDBY')
  device.tick(awake + 5_000)
  await untilShown('ASLEEP', 'STANDBY')
  expect(counters.connected).toBe(0)
  expect((await org.call('GET', `/rooms/${room.id}`)).body.state).toBe('HEALTHY')

  at = Date.parse('2026-05-06T07:00:00Z')
  device.tick(awake + minuteMs)
  await untilShown('ONLINE', 'ON')
  const off = await org.call('POST', `/endpoints/${identity.endpointId}/power`, { body: { on: false } })
  expect(off.status, off.text).toBe(200)
  await untilShown('ONLINE', 'STANDBY')
  device.tick(Date.now() + minuteMs)
  await untilShown('ASLEEP', 'STANDBY')
  await device.stop()
  await harness.close()
})
