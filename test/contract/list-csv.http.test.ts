// Lists as CSV, for every operation of the table that has them: each equals its JSON, for each caller. [contract 6.csv]
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Operation } from '../../src/contract/operation.ts'
import { operationIds, operations } from '../../src/contract/operations.ts'
import { pathFor } from '../support/contract/calls.ts'
import { csvLines } from '../support/csv-lines.ts'
import { putEndpoints } from '../support/database/endpoint-rows.ts'
import { fullStatusReport } from '../support/devices/reported-cases.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import { type Harness, type Reply, startHarness } from '../support/harness.ts'
import { cpuLimitMs, runCount } from '../support/long-form.ts'
import { shortestOfLongestTurns } from '../support/longest-turn.ts'

let harness: Harness
let f: Fixture
let callers: Readonly<Record<string, string>>
beforeAll(async () => {
  // Scheduled tasks take turns too, so they have long pauses.
  harness = await startHarness({}, { taskPauseShare: 500 })
  f = await newFixture(harness)
  await f.call('POST', '/rooms', { body: { name: '=HYPERLINK("x")\u202e, "quoted"', tags: ['big', 'quiet'] } })
  const seen = { name: '-5', locationId: f.location, capacity: 8, externalId: '@R5', fields: { cost_centre: '+47' } }
  await f.call('POST', '/rooms', { body: seen })
  await f.call('POST', '/rooms', {
    body: { name: 'Skog', fields: { hidden_name: 'a, b', cost_centre: '2', constructor: 'ACME' } },
  })
  await f.call('PUT', `/endpoints/${f.endpoint}`, { body: { assetTag: 'A-1', fields: { lease: '2027' } } })
  callers = {
    owner: f.key,
    'of the region': await f.newKey({ scopes: ['read'], regionIds: [f.region] }),
    'of another region': await f.newKey({ scopes: ['read'], regionIds: [f.emptyRegion] }),
  }
})
afterAll(() => harness.close())

const asCsv = { headers: { accept: 'text/csv' } }
const listIds = operationIds.filter((id) => (operations[id] as Operation).csvList)
const get = (path: string, key: string, headers = {}) => harness.call('GET', path, { key, headers })

/** The text of a cell for a value of the JSON. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value) && value.every((part) => typeof part !== 'object')) return value.join(' ')
  const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\u202e', '')
  return /^[=+@-]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text
}

type Item = Record<string, unknown>

/** The value of a column: its name is the path in the JSON. Samples have columns of their own. */
function valueIn(item: Item, column: string): unknown {
  if (column.startsWith('field.')) {
    const [fields, name] = [(item.fields ?? {}) as Item, column.slice('field.'.length)]
    return Object.hasOwn(fields, name) ? fields[name] : undefined
  }
  const data = (item.endpointData ?? item.roomData) as Item | null | undefined
  if (!('endpointData' in item || 'roomData' in item) || column === 'id') {
    return column.split('.').reduce<unknown>((value, key) => (value as Item | undefined)?.[key], item)
  }
  const [sample] = (data?.data ?? []) as Item[]
  if (!data || !sample) return undefined
  if (column === 'time') return new Date(Number(sample.timestamp) * 1000).toISOString()
  if (column === 'shutterClosed' || column === 'peopleIs') return data[column]
  return (data.measured as string[]).includes(column) ? sample[column] : undefined
}

/** All pages of the JSON. */
async function readItems(path: string, key: string, list: string): Promise<{ first: Reply; items: Item[] }> {
  const first = await get(path, key)
  const items: Item[] = [...(first.body[list] ?? [])]
  for (let page = first; page.body.nextPageToken; ) {
    const to = `${path}${path.includes('?') ? '&' : '?'}pageToken=${page.body.nextPageToken}`
    page = await get(to, key)
    items.push(...page.body[list])
  }
  return { first, items }
}

/** Listed endpoints with what the list leaves out. `reported-status.http.test.ts` has the texts of lists. */
const wholeEndpoints = (items: readonly Item[], key: string): Promise<Item[]> =>
  Promise.all(
    items.map(async (item) => {
      const { networks, ...endpoint } = (await get(`/v1/orgs/${f.id}/endpoints/${item.id}`, key)).body
      expect(networks).toEqual([])
      return { ...item, latestVersion: undefined, ...endpoint }
    }),
  )

describe.each(listIds)('%s', (id) => {
  const { csvList, query }: Operation = operations[id]
  if (!csvList) throw new Error(`${id} has no list`)

  test('is the JSON list as CSV, row by row, with and without its filters, for each caller', async () => {
    const withoutFilters = Object.fromEntries(Object.keys(query ?? {}).map((name) => [name, undefined]))
    const paths = [pathFor(f, id), pathFor(f, id, f.id, withoutFilters)]
    let rows = 0
    for (const [name, key] of Object.entries(callers)) {
      for (const path of paths) {
        const { first, items } = await readItems(path, key, csvList.key)
        const csv = await get(path, key, asCsv.headers)
        expect(csv.status, `${name} ${csv.text}`).toBe(first.status)
        if (csv.status !== 200) continue
        expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
        expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="${csvList.name}.csv"`)
        const [header = [], ...lines] = csvLines(csv.text)
        const shown = id === 'endpointsBasicList' ? await wholeEndpoints(items, key) : items
        expect(lines, `${name} ${path}`).toEqual(
          shown.map((item) => header.map((column) => cellOf(valueIn(item, column)))),
        )
        rows += lines.length
      }
    }
    expect(rows).toBeGreaterThan(0)
  })

  test('has a column for each key of an item', () => {
    const { properties } = operations[id].response as unknown as { properties: Record<string, { items: object }> }
    const { items } = properties[csvList.key] as { items: { properties: object } }
    const names = csvList.columns.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    const keys = Object.keys(items.properties).filter((key) => key !== 'fields' && !/^(endpoint|room)Data$/.test(key))
    expect(keys.filter((key) => !names.some((name) => name === key || name.startsWith(`${key}.`)))).toEqual([])
  })

  test('is JSON for callers who accept anything, or JSON too, and says that it depends on that', async () => {
    for (const accept of ['*/*', 'text/*', 'application/json, text/csv', 'text/csv;q=0, */*']) {
      const reply = await get(pathFor(f, id), f.key, { accept })
      expect([reply.status, reply.headers.get('content-type')], accept).toEqual([200, 'application/json'])
      expect(reply.headers.get('vary')).toMatch(/accept/i)
    }
  })

  test('begins with a byte order mark on request, and is refused like the JSON', async () => {
    const path = pathFor(f, id)
    const bytesOf = async (from: string) => {
      const headers = { authorization: `Bearer ${f.key}`, accept: 'text/csv' }
      return Buffer.from(await (await fetch(harness.url + from, { headers })).arrayBuffer())
    }
    const [plain, marked] = [await bytesOf(path), await bytesOf(pathFor(f, id, f.id, { bom: true }))]
    expect(marked).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]))
    const refused = await get(pathFor(f, id, f.id, { bom: 'perhaps' }), f.key, asCsv.headers)
    expect([refused.status, refused.body.violations[0].field]).toEqual([400, 'bom'])
    const head = await harness.call('HEAD', path, { key: f.key, ...asCsv })
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'text/csv; charset=utf-8'])
  })
})

test('each name of a field that a listed item has is a column', async () => {
  const fieldsOf = async (path: string, caller: string) =>
    csvLines((await get(path, callers[caller] ?? '', asCsv.headers)).text)[0]?.filter((name) =>
      name.startsWith('field.'),
    )
  const [rooms, endpoints] = [`/v1/orgs/${f.id}/rooms`, `/v1/orgs/${f.id}/endpoints`]
  const all = ['field.constructor', 'field.cost_centre', 'field.hidden_name']
  expect(await fieldsOf(rooms, 'owner')).toEqual(all)
  expect(await fieldsOf(rooms, 'of the region')).toEqual(['field.cost_centre'])
  expect(await fieldsOf(`${rooms}?field=cost_centre:2`, 'owner')).toEqual(all)
  expect(await fieldsOf(endpoints, 'owner')).toEqual(['field.lease'])
  expect(await fieldsOf(endpoints, 'of another region')).toEqual([])
})

test('every operation with CSV takes bom', () => {
  const withCsv = operationIds.filter((id) => (operations[id] as Operation).csv)
  expect(withCsv.filter((id) => !(operations[id] as Operation).query?.bom)).toEqual([])
  expect(listIds.length).toBeGreaterThanOrEqual(8)
})

test('a CSV has all pages', async () => {
  const org = await newFixture(harness)
  const { schema } = harness.services.db
  const incident = await schema
    .selectFrom('incidents')
    .selectAll()
    .where('org', '=', org.org.key)
    .executeTakeFirstOrThrow()
  const subjects = await schema.selectFrom('incident_subjects').selectAll().where('org', '=', org.org.key).execute()
  const ids = Array.from({ length: 450 }, (_, i) => 1000 + i)
  await schema
    .insertInto('incidents')
    .values(ids.map((id) => ({ ...incident, id })))
    .execute()
  await schema
    .insertInto('incident_subjects')
    .values(ids.flatMap((incident_id) => subjects.map((subject) => ({ ...subject, incident_id }))))
    .execute()
  const csv = await org.call('GET', '/incidents?state=all&pageSize=1', asCsv)
  const [header = [], ...lines] = csvLines(csv.text)
  const column = header.indexOf('id')
  expect(lines.map((line) => line[column])).toEqual([...ids.map(String).reverse(), String(incident.id)])
})

const manyRows = runCount({ short: 1000, full: 10_000, long: 10_000 })
test(`the CSV of ${manyRows} rooms and as many endpoints is written in short turns`, async () => {
  const org = await newFixture(harness)
  const { schema } = harness.services.db
  const room = await schema.selectFrom('rooms').selectAll().where('org', '=', org.org.key).executeTakeFirstOrThrow()
  const ids = Array.from({ length: manyRows }, (_, i) => 1000 + i)
  for (let at = 0; at < manyRows; at += 500) {
    const rows = ids.slice(at, at + 500).map((id) => ({ ...room, id, external_id: null }))
    await schema.insertInto('rooms').values(rows).execute()
  }
  await putEndpoints(
    harness,
    org,
    ids.map((room_id) => ({ room_id, status: JSON.stringify(fullStatusReport) })),
  )
  const restricted = await org.newKey({ scopes: ['read'], regionIds: [org.region] })
  const paths = [
    ['/rooms', org.key],
    ['/endpoints', org.key],
    [`/endpoints?regionId=${org.region}`, org.key],
    ['/endpoints', restricted],
  ] as const
  for (const [path, key] of paths) {
    const listed = (await org.call('GET', path, { key })).body
    const items: { id: string }[] = listed.rooms ?? listed.endpoints
    expect(new Set(items.map(({ id }) => id)).size, path).toBe(items.length)
    expect(items.length, path).toBeGreaterThanOrEqual(manyRows)
    expect(csvLines((await org.call('GET', path, { ...asCsv, key })).text)).toHaveLength(1 + items.length)
    for (const accept of ['text/csv', 'application/json']) {
      // A text of several megabytes would be decoded in a turn of the same event loop.
      const readPieces = async () => {
        const url = `${harness.url}/v1/orgs/${org.id}${path}`
        const { body } = await fetch(url, { headers: { authorization: `Bearer ${key}`, accept } })
        let bytes = 0
        for await (const piece of body ?? []) bytes += piece.length
        expect(bytes).toBeGreaterThan(20 * items.length)
      }
      const longest = await shortestOfLongestTurns(cpuLimitMs(15), readPieces)
      expect(longest, `${path} ${accept}`).toBeLessThan(cpuLimitMs(15))
    }
  }
})
