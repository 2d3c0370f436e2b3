// A monitoring adapter offers a control only for a setting that it reads: what it finds on a fleet for which nothing was set.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fleet } from '../../src/simulator/fleet.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { until } from '../support/program.ts'

const size = { endpoints: 12, rooms: 6, locations: 3, regions: 2 }
const ended = new AbortController()
let harness: Harness
let org: TestOrg
let fleet: Fleet
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
  const server = { url: harness.url, org: org.id, key: org.key, stateFile: join(harness.place.dataDir, 'fleet.json') }
  const behaviour = { seed: 1, speed: 1, intervalSeconds: 60, flapShare: 0, rejectConfig: 0, backfillMs: 0 }
  fleet = new Fleet({ ...server, ...size, ...behaviour }, ended.signal)
  await fleet.build()
})
afterAll(async () => {
  ended.abort()
  await fleet.stop()
  await harness.close()
})

/** The settings that the AVI-SPL adapter reads, with a value that its control sends. A Float and a Long of Java are written like this. */
const controls: Readonly<Record<string, string>> = {
  autoWakeup: 'false',
  bluetooth: 'false',
  brightness: '0.85',
  byodMode: 'true',
  colorCorrection: '"protanomaly"',
  dateFormat: '"yyyy/MM/dd"',
  fontSize: '"largest"',
  frameRatePreferred: 'true',
  hdmiCecControl: 'false',
  highContrast: 'true',
  language: '"it"',
  nightMode: 'true',
  ntpServer: '"time.example.org"',
  screenReader: 'true',
  screenStandby: '3600000',
  screenStayOn: 'true',
  time24h: 'true',
  timezone: '"Africa/Istanbul"',
  usbAudio: 'true',
}
const pads = ['NF19A1', 'NF25J1']
/** A pad has none of these, and the adapter has no control for them there. */
const notOnPads = ['autoWakeup', 'frameRatePreferred', 'hdmiCecControl', 'screenStandby']
/** The values that its dropdowns know; for any other value it has no control. */
const known: Readonly<Record<string, readonly unknown[]>> = {
  screenStandby: [60_000, 300_000, 600_000, 1_200_000, 1_800_000, 3_600_000],
  dateFormat: ['MM/dd/yyyy', 'yyyy/MM/dd', 'dd/MM/yyyy'],
  fontSize: ['default', 'small', 'large', 'largest'],
}

test('every control is offered on a fleet for which nothing was set, and works [contract 4.endpointsSettings] [contract 4.endpointsApplyConfig]', async () => {
  await until('a sample of every device', () => fleet.counters.samples >= size.endpoints)
  const { endpoints } = (await org.call('GET', '/endpoints')).body as { endpoints: { id: string; model: string }[] }
  expect(endpoints).toHaveLength(size.endpoints)
  for (const { id, model } of endpoints) {
    const at = `/endpoints/${id}/config`
    const settings = (await org.call('GET', at)).body
    const wanted = Object.keys(controls).filter((name) => !pads.includes(model) || !notOnPads.includes(name))
    const offered = wanted.filter((name) => name in settings && (known[name]?.includes(settings[name]) ?? true))
    expect(offered, model).toEqual(wanted)
    expect((await org.call('GET', `${at}/state`)).body.desired, 'nothing was set').toEqual({})
  }

  const [bar] = endpoints.filter(({ model }) => model === 'NF19B1')
  const at = `/endpoints/${bar?.id}/config`
  const set: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(controls)) {
    const reply = await org.call('POST', at, { raw: `{"${name}":${text}}` })
    expect(reply.text, 'the adapter compares the texts').toContain(`"${name}":${text}`)
    set[name] = JSON.parse(text)
    expect((await org.call('GET', `${at}/state`)).body.desired, 'no other key is set').toEqual(set)
  }
  const state = async () => (await org.call('GET', `${at}/state`)).body
  await until('the device to have it', async () => (await state()).state === 'DELIVERED')
  expect((await state()).reported).toMatchObject(set)
})
