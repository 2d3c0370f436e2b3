// Incidents about the faults that devices report, over a fixed clock. [contract 10.rule]
import { expect, test } from 'vitest'
import { type QuietDevice, quietDevices } from '../../../../test/support/incidents/quiet-devices.ts'
import { isFullForm } from '../../../../test/support/long-form.ts'
import { hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import type { FaultLevel } from '../../../contract/fleet/reported-status.ts'
import { incidentRulesUpdate } from '../incident-rules/rules.ts'
import { incidentsGet } from '../rules.ts'

const world = quietDevices()
const { newLocation, connect, report, disconnect, pass, open } = world

const fault = (code: string, level: FaultLevel = 'WARNING', text = `Text of ${code}`) => ({ code, level, text })

/** Connects devices of one model, each in a room of its own. */
async function projectors(count: number) {
  const { devices } = await newLocation(count, 1)
  for (const device of devices) await connect(device)
  await pass(minuteMs)
  return devices as [QuietDevice, ...QuietDevice[]]
}
/** Each test has codes of its own, because an incident that ended within the last hour would reopen. */
async function endFaults(devices: readonly QuietDevice[]) {
  for (const device of devices) await report(device, { faults: [] })
  await pass(6 * minuteMs)
  expect(await open()).toEqual([])
}
const severities = async () => (await open()).map(({ severity }) => severity).sort()

test('a fault opens an incident after 2 minutes, which ends 5 minutes after the fault is gone', async () => {
  const stepMs = isFullForm ? secondMs : 10 * secondMs
  const [projector] = await projectors(1)
  await report(projector, { faults: [fault('lamp.end', 'WARNING', 'Lamp worn out')] })
  await pass(2 * minuteMs - secondMs, stepMs)
  expect(await open()).toEqual([])
  // The first check of all rules that sees it is up to a minute later.
  await pass(minuteMs + stepMs, stepMs)
  const [incident, ...others] = await open()
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    rule: 'device.fault',
    severity: 'WARNING',
    cause: { level: 'MODEL', id: 'PX-900' },
    openSubjectCount: 1,
  })
  expect(incident?.title).toBe('PX-900 in Room 0 (Location 1) reports a fault: Lamp worn out (lamp.end)')

  await report(projector, { faults: [] })
  await pass(5 * minuteMs - secondMs, stepMs)
  expect(await open()).toHaveLength(1)
  await pass(minuteMs + stepMs, stepMs)
  expect(await open()).toEqual([])
})

test('INFO opens nothing; a fault that becomes CRITICAL raises its incident, and one that becomes INFO ends it', async () => {
  const [projector] = await projectors(1)
  await report(projector, { faults: [fault('filter', 'INFO')] })
  await pass(10 * minuteMs)
  expect(await open()).toEqual([])
  await report(projector, { faults: [fault('filter')] })
  await pass(4 * minuteMs)
  expect(await severities()).toEqual(['WARNING'])
  await report(projector, { faults: [fault('filter', 'CRITICAL')] })
  await pass(minuteMs)
  expect(await severities()).toEqual(['CRITICAL'])
  const [{ id } = { id: '' }] = await open()
  const { body } = await incidentsGet(world.service.ctx, id)
  expect(body.timeline.map(({ kind }) => kind)).toEqual(['OPENED', 'SEVERITY'])
  await report(projector, { faults: [fault('filter')] })
  await pass(minuteMs)
  expect(await severities()).toEqual(['WARNING'])
  await report(projector, { faults: [fault('filter', 'INFO')] })
  await pass(6 * minuteMs)
  expect(await open()).toEqual([])
})

test('ten displays of a model with one code are one incident, and another code is another; a text that differs is not shown', async () => {
  const displays = await projectors(10)
  for (const display of displays) await report(display, { faults: [fault('panel.hot', 'WARNING', 'Too hot')] })
  await pass(4 * minuteMs)
  const [incident, ...others] = await open()
  expect(others).toEqual([])
  expect(incident).toMatchObject({ openSubjectCount: 10 })
  expect(incident?.title).toMatch(/^10 PX-900 devices in Location \d+ report a fault: Too hot \(panel\.hot\)$/)
  const [first, second] = displays as [QuietDevice, QuietDevice]
  await report(first, { faults: [fault('panel.hot', 'WARNING', 'Too hot'), fault('panel.dark', 'WARNING', 'Dark')] })
  await report(second, { faults: [] })
  await pass(6 * minuteMs)
  await report(second, { faults: [fault('panel.hot', 'WARNING', '71 degrees')] })
  await pass(4 * minuteMs)
  const titles = (await open()).map(({ title, openSubjectCount }) => ({ title, openSubjectCount }))
  expect(titles).toEqual([
    { title: expect.stringMatching(/reports a fault: Dark \(panel\.dark\)$/), openSubjectCount: 1 },
    { title: expect.stringMatching(/^10 PX-900 devices .* report the fault panel\.hot$/), openSubjectCount: 10 },
  ])
  await endFaults(displays)
})

test('a device has at most 5 open: the worst, and of these the oldest', async () => {
  const [projector] = await projectors(1)
  const codes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => `many.${letter}`)
  const shown = async () => (await open()).map(({ title }) => /many\.(\w)\)$/.exec(title)?.[1]).sort()
  const warnings = codes.map((code) => fault(code))
  await report(projector, { faults: warnings.slice(0, 2) })
  await pass(4 * minuteMs)
  await report(projector, { faults: warnings.toReversed() })
  await pass(4 * minuteMs)
  expect(await shown(), 'the oldest').toEqual(['a', 'b', 'e', 'f', 'g'])
  await report(projector, { faults: [...warnings, fault('many.z', 'CRITICAL')] })
  const sizes = []
  for (let i = 0; i < 4; i++) {
    await pass(minuteMs)
    sizes.push((await shown()).length)
  }
  expect(Math.max(...sizes)).toBe(5)
  expect(await shown(), 'the worst').toEqual(['a', 'b', 'e', 'f', 'z'])
  await report(projector, { faults: warnings.slice(2) })
  await pass(10 * minuteMs)
  expect(await shown()).toEqual(['c', 'd', 'e', 'f', 'g'])
  await endFaults([projector])
})

test('while the device is away its faults neither open nor end, and another node continues', async () => {
  const [opening, ending] = (await projectors(2)) as [QuietDevice, QuietDevice]
  await report(ending, { faults: [fault('fan.slow')] })
  await pass(4 * minuteMs)
  expect(await open()).toHaveLength(1)
  await report(opening, { faults: [fault('fan.stopped', 'CRITICAL')] })
  await pass(minuteMs)
  await report(ending, { faults: [] })
  for (const device of [opening, ending]) await report(device, { sleeps: true, power: 'STANDBY' })
  for (const device of [opening, ending]) await disconnect(device)
  world.changeNode()
  await pass(minuteMs)
  await pass(3 * hourMs, 10 * minuteMs)
  expect(await severities()).toEqual(['WARNING'])
  for (const device of [opening, ending]) await connect(device)
  await pass(2 * minuteMs)
  expect(await severities()).toEqual(['CRITICAL', 'WARNING'])
  await pass(4 * minuteMs)
  expect(await severities()).toEqual(['CRITICAL'])
  await endFaults([opening, ending])
})

test('an organisation that wants less noise makes faults INFO; critical ones stay CRITICAL', async () => {
  const [projector] = await projectors(1)
  await incidentRulesUpdate(world.service.ctx, 'device.fault', { severity: 'INFO' })
  await report(projector, { faults: [fault('quiet'), fault('loud', 'CRITICAL')] })
  await pass(4 * minuteMs)
  expect(await severities()).toEqual(['CRITICAL', 'INFO'])
  await incidentRulesUpdate(world.service.ctx, 'device.fault', { severity: null })
  await endFaults([projector])
})
