// Reboots that wait for an idle room with devices of unknown models. [contract 12.idle] [contract 5.1.models]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, startHarness, type TestOrg } from '../../../../../test/support/harness.ts'
import { until } from '../../../../../test/support/program.ts'
import { dayMs, minuteMs, secondMs } from '../../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
  org = await harness.newOrg()
  harness.clock.fix(Date.UTC(2026, 4, 4, 8))
})
afterAll(() => harness.close())

/** A room with a bar that has just seen people, and a projector that was switched off long ago. */
async function roomWithDeadProjector(status: object) {
  const roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id as number
  const bar = await newDevice(harness, org, { roomId })
  await bar.publish('status', { firmwareVersion: '1' })
  const projector = await newDevice(harness, org, { roomId, model: 'PX-900' })
  await projector.publish('status', status)
  await projector.close()
  const isConnected = async () => (await org.call('GET', `/endpoints/${projector.id}`)).body.connected
  await until('the projector is offline', async () => !(await isConnected()))
  harness.clock.advance(10 * dayMs)
  await publishPeople(bar, 4)
  const { body } = await org.call('POST', `/endpoints/${bar.id}/reboot`, { body: { when: 'idle' } })
  expect(body.operations).toMatchObject([{ state: 'QUEUED', waitsFor: 'idle' }])
  return { bar, operation: `/endpoints/${bar.id}/operations` }
}
const publishPeople = (device: TestDevice, people: number) =>
  device.publish('sample', { samples: [{ timestamp: Math.floor(harness.clock.now() / secondMs), people }] })

test.each([
  ['says nothing about its sensors', { kind: 'PROJECTOR' }],
  ['counts people, and has been offline for ten days', { kind: 'PROJECTOR', sensors: ['people'] }],
])('a room with a dead projector that %s becomes idle on time, and its restart is sent', async (_, status) => {
  const { bar, operation } = await roomWithDeadProjector(status)
  // The people count for 5 minutes, and the room must then be empty for 10.
  harness.clock.advance(15 * minuteMs - secondMs)
  await publishPeople(bar, 0)
  await until('the reboot was looked at', async () => {
    const [{ state, waitsFor }] = (await org.call('GET', operation)).body.operations
    return state === 'QUEUED' && waitsFor === 'idle'
  })
  harness.clock.advance(2 * secondMs)
  expect(await bar.next('operation', 15_000)).toMatchObject({ type: 'REBOOT', onlyIfIdle: true })
  await bar.close()
})
