// A real Prometheus scrapes the metrics of an organisation, and every panel of the dashboard of rooms shows something. [contract 16.metrics]
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metricFamilies } from '../../src/server/reports/metrics/families.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { engine, type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { newIncident } from '../support/incidents.ts'
import { until } from '../support/program.ts'
import { startPrometheus, type TestPrometheus } from '../support/prometheus.ts'

const root = join(import.meta.dirname, '../..')
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/rooms.json'), 'utf8')) as {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[]
}
let harness: Harness
let org: TestOrg
let prometheus: TestPrometheus
beforeAll(async () => {
  if (engine !== 'sqlite') return
  harness = await startHarness()
  org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'North' } })
  await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  await org.call('POST', '/rooms', { body: { name: 'Fjord', locationId: 1 } })
  await org.call('POST', '/rooms', { body: { name: 'Cellar' } })
  const now = Math.floor(harness.clock.now() / 1000)
  const readings =
    '{"readings":[{"name":"powerDraw","value":35,"unit":"W"},{"name":"certificateDays","value":12,"unit":"d"}]}'
  const [bar, silent] = await putEndpoints(harness, org, [
    { room_id: 1, connected: 1, connection_time: now * 1000, readings },
    { room_id: 1, connection_time: now * 1000 },
  ])
  const air = { co2: 640, humidity: 365, illumination: 300, people: 3, temp: 215, voc: 90, voc_index: 20 }
  await harness.services.db.systemTransaction(async ({ kysely }) => {
    const values = [
      { endpoint: bar?.number ?? 0, timestamp: now },
      { endpoint: silent?.number ?? 0, timestamp: now - 7200 },
    ].map((sample) => ({ org: org.org.key, ...sample, ...air, shutter_closed: null }))
    await kysely.insertInto('samples_latest').values(values).execute()
  })
  await newIncident(harness, org, { endpoints: [bar?.id ?? ''], rule: 'storage.low' })
  const keyFile = join(harness.place.dataDir, 'rooms.key')
  writeFileSync(keyFile, await org.newKey({ scopes: ['read'] }), { mode: 0o600 })
  prometheus = await startPrometheus([
    {
      job_name: 'rooms',
      metrics_path: `/v1/orgs/${org.id}/metrics`,
      authorization: { credentials_file: keyFile },
      static_configs: [{ targets: [new URL(harness.url).host] }],
    },
  ])
})
afterAll(async () => {
  await prometheus?.stop()
  await harness?.close()
})

test.runIf(engine === 'sqlite')('Prometheus stores the series of rooms, with names to join', async () => {
  await until('rooms were scraped', async () => (await prometheus.query('roomkeeper_room_info')).length === 2)
  expect(await prometheus.scrapeErrors()).toEqual([])
  const [fjord] = await prometheus.query(
    'roomkeeper_room_co2_ppm * on (room) group_left (name, location_name) roomkeeper_room_info',
  )
  expect(fjord?.metric).toMatchObject({ job: 'rooms', room: '1', name: 'Fjord', location_name: 'Oslo' })
  expect(fjord?.value[1]).toBe('640')
})

test.runIf(engine === 'sqlite')('every query of the dashboard has a result, and names metrics that exist', async () => {
  await until('rooms were scraped', async () => (await prometheus.query('roomkeeper_room_info')).length === 2)
  const known = new Set(metricFamilies.map(({ name }) => name))
  expect(dashboard.panels.length).toBeGreaterThan(10)
  for (const { title, targets } of dashboard.panels) {
    for (const { expr } of targets) {
      expect(
        (expr.match(/roomkeeper_\w+/g) ?? []).filter((name) => !known.has(name)),
        title,
      ).toEqual([])
      const shown = await prometheus.query(expr.replaceAll(/\$(?:job|region|location)\b/g, '.*'))
      expect(shown, `${title}: ${expr}`).not.toEqual([])
    }
  }
})

test.runIf(engine === 'sqlite')('docs/data-out.md lists every metric, and its queries have results', async () => {
  await until('rooms were scraped', async () => (await prometheus.query('roomkeeper_room_info')).length === 2)
  const guide = readFileSync(join(root, 'docs/data-out.md'), 'utf8')
  const listed = [...guide.matchAll(/^\| `(roomkeeper_\w+)` \| (.+) \|$/gm)].map(([, name, help]) => ({ name, help }))
  expect(listed).toEqual(metricFamilies.map(({ name, help }) => ({ name, help })))
  const queries = [...guide.matchAll(/^```promql\n(.*?)^```/gms)].map(([, query = '']) => query)
  expect(queries.length).toBeGreaterThan(2)
  for (const query of queries) {
    // The air of this room is good.
    const shown = await prometheus.query(query.replace('> 1000', '> 600'))
    expect(shown.length, query).toBe(1)
  }
})
