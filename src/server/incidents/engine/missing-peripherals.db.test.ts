// Incidents about peripherals that are missing, over a fixed clock. [contract 10.rule]
import { expect, test } from 'vitest'
import { type QuietDevice, quietDevices } from '../../../../test/support/incidents/quiet-devices.ts'
import { dayMs, hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import { endpointsDelete } from '../../fleet/endpoints/rules.ts'
import { incidentsGet } from '../rules.ts'

const world = quietDevices()
const { newLocation, connect, report, disconnect, pass, open } = world

const camera = { id: 'usb 1', name: 'Quad', kind: 'CAMERA', connected: true } as const
/** PostgreSQL stores no text with the character 0. */
const speaker = { id: 'usb\u0000 2', name: 'Pod\u0000', kind: 'SPEAKER', connected: true } as const
const reports = (...peripherals: readonly object[]) => ({ peripherals })

/** Connects two devices of a room. */
async function twoCodecs() {
  const { devices, roomIds } = await newLocation(1, 2)
  for (const device of devices) await connect(device)
  const [codec, other] = devices as [QuietDevice, QuietDevice]
  return { codec, other, roomId: String(roomIds[0]) }
}
const storedRows = async ({ id }: QuietDevice) =>
  (
    await world.service.services.db.system.kysely
      .selectFrom('known_peripherals')
      .select('peripherals')
      .where('endpoint_id', '=', id)
      .execute()
  ).map(({ peripherals }) => JSON.parse(peripherals))

test('a peripheral that was connected for an hour and is gone for 10 minutes opens an incident, on another node too', async () => {
  const { codec, roomId } = await twoCodecs()
  await report(codec, reports(camera))
  await pass(70 * minuteMs, 10 * minuteMs)
  expect(await storedRows(codec)).toMatchObject([[{ id: 'usb 1', name: 'Quad' }]])
  world.changeNode()
  await report(codec, reports())
  await pass(10 * minuteMs - secondMs)
  expect(await open()).toEqual([])
  await pass(minuteMs + secondMs)
  const [incident, ...others] = await open()
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    rule: 'peripheral.missing',
    severity: 'WARNING',
    title: 'Camera Quad is missing in Room 0 (Location 1)',
    cause: { level: 'ROOM', id: roomId },
    openSubjectCount: 1,
  })
  await pass(8 * dayMs, 6 * hourMs)
  expect(await open(), 'it stays open when the peripheral is forgotten').toHaveLength(1)
  await report(codec, reports({ ...camera, connected: false }))
  await pass(10 * minuteMs)
  expect(await open(), 'it is back, and does not work').toHaveLength(1)
  await report(codec, reports(camera))
  await pass(4 * minuteMs)
  expect(await open()).toEqual([])
})

test('a peripheral that was never connected for an hour opens nothing, nor one that was last connected more than 7 days ago', async () => {
  const { codec: brief, other: old } = await twoCodecs()
  await report(old, reports(camera))
  await pass(10 * minuteMs)
  for (let i = 0; i < 3; i++) {
    await report(brief, reports(camera))
    await pass(50 * minuteMs, 10 * minuteMs)
    await report(brief, reports({ ...camera, connected: false }))
    await pass(15 * minuteMs)
  }
  expect(await open()).toEqual([])
  expect(await storedRows(brief)).toEqual([])
  expect(await storedRows(old)).toHaveLength(1)
  await report(old, { sleeps: true, power: 'STANDBY' })
  await disconnect(old)
  await pass(7 * dayMs, 6 * hourMs)
  await connect(old, reports())
  await pass(20 * minuteMs)
  expect(await open()).toEqual([])
})

test('while the device is away its peripherals neither go missing nor come back', async () => {
  const { codec } = await twoCodecs()
  await report(codec, { ...reports(camera), sleeps: true, power: 'ON' })
  await pass(70 * minuteMs, 10 * minuteMs)
  await report(codec, { ...reports({ ...camera, connected: false }), power: 'STANDBY' })
  await pass(5 * minuteMs)
  await disconnect(codec)
  await pass(2 * minuteMs)
  await pass(3 * hourMs, 10 * minuteMs)
  expect(await open()).toEqual([])
  await connect(codec)
  await pass(4 * minuteMs)
  expect(await open(), 'less than 10 minutes with its device').toEqual([])
  await pass(4 * minuteMs)
  expect(await open()).toHaveLength(1)
  await report(codec, reports(camera))
  await disconnect(codec)
  await pass(hourMs, 10 * minuteMs)
  expect(await open()).toHaveLength(1)
  await connect(codec)
  await pass(4 * minuteMs)
  expect(await open()).toEqual([])
})

test('the missing peripherals of a room share an incident, in which each device is one subject', async () => {
  const { codec, other: panel } = await twoCodecs()
  for (const device of [codec, panel]) await report(device, reports(camera, speaker))
  await pass(70 * minuteMs, 10 * minuteMs)
  await report(codec, reports())
  await pass(12 * minuteMs)
  const [incident] = await open()
  expect(incident).toMatchObject({ openSubjectCount: 1 })
  expect(incident?.title).toMatch(/^Camera Quad and Speaker Pod are missing in Room 0 /)
  await report(panel, reports(speaker))
  await pass(12 * minuteMs)
  expect(await open()).toMatchObject([{ id: incident?.id, openSubjectCount: 2 }])
  expect((await open())[0]?.title).toMatch(/^2 × Camera Quad and Speaker Pod are missing in Room 0 /)

  world.changeNode()
  await report(codec, reports(speaker))
  await pass(4 * minuteMs)
  const answer = await incidentsGet(world.service.ctx, incident?.id ?? '')
  expect(answer.body.title).toMatch(/^2 × Camera Quad are missing in Room 0 /)
  expect(answer.body.subjects, 'the camera of the device is still missing').toMatchObject([
    { id: codec.id, since: incident?.since },
    { id: panel.id },
  ])
  expect(answer.body.subjects.map(({ endedAt }) => endedAt)).toEqual([undefined, undefined])
  for (const device of [codec, panel]) await report(device, reports(camera, speaker))
  await pass(4 * minuteMs)
  expect(await open()).toEqual([])
})

test('a device that no longer reports peripherals has none missing, and a deleted one is forgotten', async () => {
  const { codec } = await twoCodecs()
  await report(codec, reports(camera))
  await pass(70 * minuteMs, 10 * minuteMs)
  await report(codec, reports())
  await pass(12 * minuteMs)
  expect(await open()).toHaveLength(1)
  await report(codec, { peripherals: null })
  await pass(4 * minuteMs)
  expect(await open()).toEqual([])
  expect(await storedRows(codec)).toHaveLength(1)
  await endpointsDelete(world.service.ctx, codec.id)
  await pass(2 * minuteMs)
  expect(await storedRows(codec)).toEqual([])
})
