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
interface Variable {
  readonly name: string
  readonly type: string
  readonly datasource?: object
  readonly query: string | { readonly query: string }
  readonly definition?: string
}
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/rooms.json'), 'utf8')) as {
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly datasource: object
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly targets: readonly { readonly expr: string }[]
  }[]
}
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts the chosen data source there
const dataSource = { type: 'prometheus', uid: '${datasource}' }
const namesIn = (text: string) => [...text.matchAll(/\$(\w+)/g)].map(([, name]) => name as string)
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

test.runIf(engine === 'sqlite')(
  'every variable of the dashboard has its values, and a choice limits the next ones',
  async () => {
    await until('rooms were scraped', async () => (await prometheus.query('roomkeeper_room_info')).length === 2)
    const [source, ...variables] = dashboard.templating.list
    expect(source).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' })
    const valuesOf = async ({ query }: Variable, chosen: Readonly<Record<string, string>>) => {
      const text = typeof query === 'string' ? query : query.query
      const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? []
      return prometheus.labelValues(
        label,
        series.replaceAll(/\$(\w+)/g, (_, name: string) => chosen[name] ?? ''),
      )
    }
    const found: Record<string, readonly string[]> = {}
    const chosen: Record<string, string> = {}
    for (const variable of variables) {
      expect(variable).toMatchObject({ type: 'query', datasource: dataSource, allValue: '.*', multi: true })
      expect(variable.query).toMatchObject({ query: variable.definition })
      // A variable depends on those before it only.
      expect(namesIn(variable.definition ?? '').filter((name) => !(name in chosen))).toEqual([])
      found[variable.name] = await valuesOf(variable, chosen)
      chosen[variable.name] = '.*'
    }
    expect(found).toEqual({ job: ['rooms'], region: ['North'], location: ['Oslo'] })
    const [, , location] = variables as [Variable, Variable, Variable]
    expect(await valuesOf(location, { job: 'rooms', region: 'North' })).toEqual(['Oslo'])
    expect(await valuesOf(location, { job: 'rooms', region: 'South' })).toEqual([])
    // Panels use these variables only, have numbers of their own, and do not overlap.
    const cells = new Set<string>()
    for (const { title, datasource, gridPos, targets } of dashboard.panels) {
      expect(datasource, title).toEqual(dataSource)
      for (const { expr } of targets)
        expect(
          namesIn(expr).filter((name) => !(name in chosen)),
          title,
        ).toEqual([])
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(cells.has(`${x} ${y}`), title).toBe(false)
          cells.add(`${x} ${y}`)
        }
      }
    }
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  },
)

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
