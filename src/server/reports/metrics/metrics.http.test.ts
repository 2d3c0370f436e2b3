// The metrics of rooms and endpoints: values, places, callers of one region, and the text that Prometheus reads. [contract 16.metrics]
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putEndpoints } from '../../../../test/support/database/endpoint-rows.ts'
import { need } from '../../../../test/support/debian.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { newIncident } from '../../../../test/support/incidents.ts'

const noon = Date.UTC(2026, 2, 2, 12)
const second = noon / 1000
const emptySample = { co2: null, humidity: null, illumination: null, people: null, temp: null, voc: null }
let harness: Harness
let org: TestOrg
/** In Fjord, in Fjord, in Forum. */
let [bar, outlet, sensor]: string[] = []

beforeAll(async () => {
  harness = await startHarness()
  harness.clock.fix(noon)
  org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['North', 'South']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Rome: 2 })) await post('/locations', { name, regionId })
  await post('/rooms', { name: 'Fjord "A"\\B', locationId: 1, capacity: 8 })
  await post('/rooms', { name: 'Forum', locationId: 2 })
  await post('/rooms', { name: 'Cellar' })
  const rows = await putEndpoints(harness, org, [
    { room_id: 1, connected: 1, connection_time: noon, serial: 'NB1', name: 'Bar' },
    {
      ...{ room_id: 1, connection_time: noon, serial: 'PDU1', model: 'PDU', name: 'Outlet' },
      status: '{"kind":"POWER","manufacturer":"Acme","power":"STANDBY"}',
      readings:
        '{"readings":[{"name":"powerDraw","value":35.5,"unit":"W"},{"name":"certificateDays","value":-2,"unit":"d"}]}',
    },
    { room_id: 2, connection_time: noon, serial: 'S1', model: 'NF20C1', presence_only: 1 },
  ])
  ;[bar, outlet, sensor] = rows.map(({ id }) => id)
  const [first, , last] = rows.map(({ number }) => ({ org: org.org.key, endpoint: number, ...emptySample }))
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const values = [
      { ...first, timestamp: second - 60, people: 3, co2: 640, humidity: 365, temp: -5, voc_index: 12 },
      { ...last, timestamp: second - 60, people: 1, co2: null, humidity: null, temp: null, voc_index: null },
    ].map((row) => ({ shutter_closed: null, ...row }) as never)
    await kysely.insertInto('samples_latest').values(values).execute()
  })
  await newIncident(harness, org, { endpoints: [bar as string], rule: 'storage.low', severity: 'CRITICAL' })
})
afterAll(() => harness.close())

const metrics = async (query = '', key = org.key) => {
  const { status, text, headers } = await org.call('GET', `/metrics${query}`, { key })
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return text
}
/** The series about a room or an endpoint, without the beginning that all names have. */
const seriesOf = (text: string, label: string) =>
  text
    .split('\n')
    .filter((line) => line.includes(`{${label}`))
    .map((line) => line.replace('roomkeeper_', ''))

test('a room has its place, state, people, air and incidents [contract 16.metrics]', async () => {
  const text = await metrics()
  expect(seriesOf(text, 'room="1"')).toEqual([
    String.raw`room_info{room="1",name="Fjord \"A\"\\B",location="1",location_name="Oslo",region="1",region_name="North"} 1`,
    'room_state{room="1",state="OFFLINE"} 0',
    'room_state{room="1",state="DEGRADED"} 1',
    'room_state{room="1",state="UNKNOWN"} 0',
    'room_state{room="1",state="HEALTHY"} 0',
    'room_state{room="1",state="EMPTY"} 0',
    'room_endpoints{room="1"} 2',
    'room_endpoints_connected{room="1"} 1',
    'room_capacity_people{room="1"} 8',
    'room_people{room="1"} 3',
    'room_occupied{room="1"} 1',
    'room_co2_ppm{room="1"} 640',
    'room_humidity_ratio{room="1"} 0.365',
    'room_temperature_celsius{room="1"} -0.5',
    'room_voc_index{room="1"} 12',
    `room_sample_timestamp_seconds{room="1"} ${second - 60}`,
    'room_incidents{room="1",severity="INFO"} 0',
    'room_incidents{room="1",severity="WARNING"} 0',
    'room_incidents{room="1",severity="CRITICAL"} 1',
  ])
  // A sensor that only detects presence does not count people.
  expect(seriesOf(text, 'room="2"')).toContain('room_occupied{room="2"} 1')
  expect(text).not.toContain('room_people{room="2"}')
  expect(seriesOf(text, 'room="3"')[0]).toBe('room_info{room="3",name="Cellar"} 1')
})

test('an endpoint has its names, state, power, certificate and samples [contract 16.metrics]', async () => {
  const text = await metrics()
  expect(seriesOf(text, `endpoint="${outlet}"`)).toEqual(
    [
      `endpoint_info{endpoint="${outlet}",room="1",name="Outlet",serial="PDU1",model="PDU",kind="POWER",manufacturer="Acme"} 1`,
      `endpoint_state{endpoint="${outlet}",state="OFFLINE"} 1`,
      `endpoint_state{endpoint="${outlet}",state="UNKNOWN"} 0`,
      `endpoint_state{endpoint="${outlet}",state="ASLEEP"} 0`,
      `endpoint_state{endpoint="${outlet}",state="ONLINE"} 0`,
      `endpoint_incidents{endpoint="${outlet}",severity="INFO"} 0`,
      `endpoint_incidents{endpoint="${outlet}",severity="WARNING"} 0`,
      `endpoint_incidents{endpoint="${outlet}",severity="CRITICAL"} 0`,
      `endpoint_power{endpoint="${outlet}",state="ON"} 0`,
      `endpoint_power{endpoint="${outlet}",state="STANDBY"} 1`,
      `endpoint_power{endpoint="${outlet}",state="OFF"} 0`,
      `endpoint_power{endpoint="${outlet}",state="CHANGING"} 0`,
      `endpoint_power_watts{endpoint="${outlet}"} 35.5`,
      `endpoint_certificate_remaining_seconds{endpoint="${outlet}"} -172800`,
    ].toSorted(inOrderOf(text)),
  )
  expect(seriesOf(text, `endpoint="${bar}"`)).toEqual(
    expect.arrayContaining([
      `endpoint_info{endpoint="${bar}",room="1",name="Bar",serial="NB1",model="NF19B1",kind="CODEC",manufacturer="Neat"} 1`,
      `endpoint_state{endpoint="${bar}",state="ONLINE"} 1`,
      `endpoint_people{endpoint="${bar}"} 3`,
      `endpoint_co2_ppm{endpoint="${bar}"} 640`,
      `endpoint_sample_timestamp_seconds{endpoint="${bar}"} ${second - 60}`,
      `endpoint_incidents{endpoint="${bar}",severity="CRITICAL"} 1`,
    ]),
  )
})

const inOrderOf = (text: string) => (a: string, b: string) => text.indexOf(a) - text.indexOf(b)

test('a value that is older than the freshness of samples has no series, but its time has one [contract 16.metrics]', async () => {
  harness.clock.fix(noon + 16 * 60_000)
  const text = await metrics()
  harness.clock.fix(noon)
  expect(text).not.toContain('_co2_ppm')
  expect(text).not.toContain('room_people{')
  expect(text).toContain(`room_sample_timestamp_seconds{room="1"} ${second - 60}`)
  expect(text).toContain(`endpoint_sample_timestamp_seconds{endpoint="${bar}"} ${second - 60}`)
})

test('filters and a key of one region give the series of that place only [contract 16.metrics] [contract 11.access]', async () => {
  const north = await metrics('?regionId=1')
  const key = await org.newKey({ scopes: ['read'], regionIds: [1] })
  expect(await metrics('', key)).toBe(north)
  expect(await metrics('?regionId=2', key)).toBe('')
  expect(await metrics('?locationId=1')).toBe(north)
  expect(await metrics('?regionId=2&locationId=1')).toBe('')
  const subjects = (text: string) => new Set([...text.matchAll(/\{(?:room|endpoint)="([^"]+)"/g)].map(([, id]) => id))
  expect(subjects(north)).toEqual(new Set(['1', bar, outlet]))
  expect(subjects(await metrics('?locationId=2'))).toEqual(new Set(['2', sensor]))
  expect(subjects(await metrics())).toEqual(new Set(['1', '2', '3', bar, outlet, sensor]))
})

test('HEAD answers the headers, and a key without read is refused', async () => {
  const head = await org.call('HEAD', '/metrics')
  expect([head.status, head.text, head.headers.get('content-disposition')]).toEqual([200, '', null])
  const writer = await org.newKey({ scopes: ['write'] })
  expect((await org.call('GET', '/metrics', { key: writer })).status).toBe(403)
})

test.runIf(engine === 'sqlite')('promtool check metrics has nothing to say', async () => {
  need('promtool')
  const text = await metrics()
  expect(execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8', stdio: 'pipe' })).toBe('')
})
