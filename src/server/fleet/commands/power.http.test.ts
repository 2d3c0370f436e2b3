// Tests that devices are switched on and off, and when that counts as done. [contract 8.power]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice, type TestDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/program.ts'
import { minuteMs } from '../../../contract/durations.ts'

let harness: Harness
let org: TestOrg
let roomId: number
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  roomId = (await org.call('POST', '/rooms', { body: { name: 'Fjord' } })).body.id
})
afterAll(() => harness.close())

async function newDisplay(power = 'ON'): Promise<TestDevice> {
  const display = await newDevice(harness, org, { roomId, model: 'D-55' })
  await display.publish('status', { actions: ['power'], power })
  return display
}
const ask = (display: TestDevice, on: boolean) => org.call('POST', `/endpoints/${display.id}/power`, { body: { on } })
async function send(display: TestDevice, on: boolean) {
  const { body } = await ask(display, on)
  const [operation] = body.operations
  expect(operation).toMatchObject({ type: 'POWER', endpointId: display.id, state: 'QUEUED' })
  const { id, deadline, createdAt } = operation
  expect(Date.parse(deadline) - Date.parse(createdAt)).toBe(5 * minuteMs)
  expect(await display.next('operation')).toEqual({ id, type: 'POWER', deadline, on })
  return id as string
}
const stateOf = async (id: string) => (await org.call('GET', `/operations/${id}`)).body.state
const report = (display: TestDevice, id: string, state: string) => display.publish('operation', { id, state })

test('a switch has SUCCEEDED when the status shows it, not when the device says so', async () => {
  const display = await newDisplay()
  const log = await org.audit()
  const off = await send(display, false)
  await report(display, off, 'SUCCEEDED')
  expect(await stateOf(off)).toBe('ACKNOWLEDGED')
  await display.publish('status', { power: 'CHANGING' })
  expect(await stateOf(off)).toBe('ACKNOWLEDGED')
  await display.publish('status', { power: 'STANDBY' })
  expect(await stateOf(off)).toBe('SUCCEEDED')
  const [entry] = await org.audit()
  expect(entry).toMatchObject({
    type: 'DEVICE_POWER_REQUESTED',
    target: { id: display.id },
    details: { after: { on: false } },
  })
  expect((await org.audit()).length).toBe(log.length + 1)

  const on = await send(display, true)
  await display.publish('status', { power: 'ON' })
  expect(await stateOf(on)).toBe('SUCCEEDED')
  // A device that is on already has nothing to change in its status.
  const again = await send(display, true)
  await report(display, again, 'ACKNOWLEDGED')
  expect(await stateOf(again)).toBe('ACKNOWLEDGED')
  await report(display, again, 'SUCCEEDED')
  expect(await stateOf(again)).toBe('SUCCEEDED')
  const failed = await send(display, false)
  await display.publish('operation', { id: failed, state: 'FAILED', error: 'locked by the maker' })
  expect((await org.call('GET', `/operations/${failed}`)).body).toMatchObject({
    state: 'FAILED',
    error: 'locked by the maker',
  })
  await display.close()
})

test('a switch whose acknowledgement is lost is sent again after a reconnect, and the first status ends it', async () => {
  const display = await newDisplay()
  const off = await send(display, false)
  // The device goes off and leaves the network before it has said anything.
  await display.close()
  await until(
    'the end of the connection',
    async () => !(await org.call('GET', `/endpoints/${display.id}`)).body.connected,
  )
  expect(await stateOf(off)).toBe('SENT')
  await display.connect()
  expect(await display.next('operation')).toMatchObject({ id: off, type: 'POWER', on: false })
  await display.publish('status', { actions: ['power'], power: 'OFF' })
  expect(await stateOf(off)).toBe('SUCCEEDED')
  await report(display, off, 'ACKNOWLEDGED')
  expect(await stateOf(off), 'a late acknowledgement changes nothing').toBe('SUCCEEDED')
  await display.close()
})

test('a switch that the device ignores expires after 5 minutes', async () => {
  const display = await newDisplay()
  const off = await send(display, false)
  await report(display, off, 'ACKNOWLEDGED')
  await display.publish('status', { power: 'ON' })
  harness.clock.advance(5 * minuteMs + 1)
  await until('the deadline', async () => (await stateOf(off)) === 'EXPIRED')
  await display.publish('status', { power: 'OFF' })
  expect(await stateOf(off)).toBe('EXPIRED')
  await display.close()
})

test('a switch of a device that is asleep is skipped with a reason, audited, and not sent when the device wakes up', async () => {
  const display = await newDisplay()
  await display.publish('status', { sleeps: true, power: 'STANDBY' })
  await display.close()
  await until(
    'the display is asleep',
    async () => (await org.call('GET', `/endpoints/${display.id}`)).body.state === 'ASLEEP',
  )
  const log = await org.audit()
  const { status, body } = await ask(display, true)
  expect(status).toBe(200)
  const skipped = { type: 'POWER', endpointId: display.id, state: 'SKIPPED' }
  expect(body.operations).toMatchObject([{ ...skipped, error: 'The device is asleep and cannot be reached.' }])
  const [entry, ...earlier] = await org.audit()
  expect(entry).toMatchObject({ type: 'DEVICE_POWER_REQUESTED', target: { id: display.id } })
  expect(earlier).toEqual(log)
  await display.connect()
  // The next operation that the display gets is a later one.
  await send(display, false)
  expect(await stateOf(body.operations[0].id)).toBe('SKIPPED')
  await display.close()
})

test('a device that cannot be switched, or is not connected, is refused, and nothing is written', async () => {
  const bar = await newDevice(harness, org, { roomId })
  const display = await newDisplay()
  await display.close()
  await until(
    'the end of the connection',
    async () => !(await org.call('GET', `/endpoints/${display.id}`)).body.connected,
  )
  const before = await org.audit()
  const unable = await ask(bar, false)
  expect(unable).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
  expect(unable.body.message).toMatch(
    /does not have the action power\. The device cannot be switched on or off remotely\.$/,
  )
  const offline = await ask(display, true)
  expect(offline).toMatchObject({ status: 400, body: { code: 'FAILED_PRECONDITION' } })
  expect(offline.body.message).toContain('is not connected, so nothing was switched')
  expect(await org.audit()).toEqual(before)
  await bar.close()
})
