// The filters of the audit log, in pages and as CSV. [contract 4.auditLogs]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newDevice } from '../../../../test/support/devices/test-device.ts'
import { type Harness, quickTasks, type Reply, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import {
  auditSite,
  wholeAuditLog as everything,
  readAuditLog as read,
  regionAdmin,
} from '../../../../test/support/places/audit-site.ts'
import { until } from '../../../../test/support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, quickTasks)
})
afterAll(() => harness.close())

type Entry = Reply['body']

const idsOf = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id)
const asQuery = (filters: Record<string, string>): string => `&${new URLSearchParams(filters)}`
const found = async (org: TestOrg, filters: Record<string, string>, key = org.key): Promise<Entry[]> =>
  (await read(org, key, asQuery(filters))).body.logs

/** An organisation with changes of several kinds, by several actors, with a device and a job. */
async function changedSite(): Promise<{ org: TestOrg; serial: string; jobId: string }> {
  const { org } = await auditSite(harness)
  const { serial, id } = await newDevice(harness, org, { roomId: 1 })
  await org.call('PUT', '/rooms/1', { body: { name: 'Ærfugl Café', locationId: 1 } })
  await org.call('POST', '/rooms', { body: { name: 'Cafe' }, key: await org.newKey({ name: 'Second key' }) })
  const job = await org.call('POST', '/jobs', {
    body: {
      ...{ name: 'Night', start: true },
      ...{ action: { type: 'CONFIG', config: { nightMode: true } }, target: { endpointIds: [id] } },
    },
  })
  expect(job.status).toBe(200)
  const jobId = job.body.id
  await until('the job has changed the device', async () => (await found(org, { jobId })).length > 0)
  return { org, serial, jobId }
}

test('each filter finds the entries of which it is true, and all filters have to hold', async () => {
  const { org, serial, jobId } = await changedSite()
  const all: Entry[] = (await read(org, org.key)).body.logs
  const named = ({ target, details }: Entry) => [...(target ? [target] : []), ...(details?.affected ?? [])]
  const cases: [Record<string, string>, (entry: Entry) => boolean][] = [
    [{ category: 'DEVICE' }, ({ category }) => category === 'DEVICE'],
    [{ type: 'ROOM_CREATED' }, ({ type }) => type === 'ROOM_CREATED'],
    [{ actor: 'second KEY' }, ({ actor }) => actor.name === 'Second key'],
    [{ actor: 'KEY:1' }, ({ actor }) => actor.type === 'KEY' && actor.id === '1'],
    [{ target: 'room:1' }, (entry) => named(entry).some(({ type, id }) => type === 'room' && id === '1')],
    [{ target: 'ærfugl cafe' }, (entry) => named(entry).some(({ name }) => name === 'Ærfugl Café')],
    [
      { text: 'second created' },
      (entry) =>
        [entry.actor, ...named(entry)].some(({ name }) => name === 'Second key') && /CREATED$/.test(entry.type),
    ],
    // The console says settings where the API says config.
    [{ text: 'settings changed' }, ({ type }) => type === 'DEVICE_CONFIG_CHANGED'],
    [{ text: serial }, (entry) => JSON.stringify(entry).includes(serial)],
    [{ type: 'ROOM_CREATED', actor: 'Second key' }, (e) => e.type === 'ROOM_CREATED' && e.actor.name === 'Second key'],
  ]
  for (const [filters, isTrue] of cases) {
    const expected = idsOf(all.filter(isTrue))
    expect(expected, JSON.stringify(filters)).not.toEqual([])
    expect(idsOf(await found(org, filters)), JSON.stringify(filters)).toEqual(expected)
  }
  const ofJob = await found(org, { jobId })
  expect(idsOf(ofJob)).toEqual(idsOf(all.filter(({ details }) => details?.jobId === jobId)))
  for (const filters of [
    { type: 'room_created' },
    { actor: 'Second' },
    { jobId: 'no such job' },
    { text: 'nowhere' },
  ]) {
    expect(await found(org, filters), JSON.stringify(filters)).toEqual([])
  }
  // An empty filter is none, and an unknown category is a mistake.
  expect(idsOf(await found(org, { text: '', actor: '' }))).toEqual(idsOf(all))
  expect((await read(org, org.key, '&category=ROOM')).status).toBe(400)
})

test('pages of a filter have every entry once, and their tokens are bound to it', async () => {
  const { org } = await auditSite(harness)
  for (let i = 0; i < 7; i++) await org.call('PUT', '/rooms/1', { body: { name: `Fjord ${i}`, locationId: 1 } })
  const whole = await found(org, { type: 'ROOM_UPDATED' })
  expect(whole).toHaveLength(7)
  const paged: Entry[] = []
  let token = ''
  do {
    const page = await read(org, org.key, asQuery({ type: 'ROOM_UPDATED', pageSize: '3', pageToken: token }))
    paged.push(...page.body.logs)
    token = page.body.nextPageToken
    if (token === '') break
    for (const other of [{ type: 'ROOM_CREATED' }, {}]) {
      const refused = await read(org, org.key, asQuery({ ...other, pageToken: token }))
      expect(refused.status, JSON.stringify(other)).toBe(400)
    }
  } while (token !== '')
  expect(idsOf(paged)).toEqual(idsOf(whole))
})

test('the entries that a job made are one entry of a page, and the others are as they were', async () => {
  const { org } = await changedSite()
  const devices = [await newDevice(harness, org, { roomId: 1 }), await newDevice(harness, org, { roomId: 2 })]
  const job = await org.call('POST', '/jobs', {
    body: {
      ...{ name: 'Both', start: true, action: { type: 'CONFIG', config: { nightMode: false } } },
      target: { endpointIds: devices.map(({ id }) => id) },
    },
  })
  const jobId = job.body.id
  await until('the job has changed both', async () => (await found(org, { jobId })).length === 2)
  const all: Entry[] = (await read(org, org.key)).body.logs
  const jobOf = ({ details }: Entry): string | undefined => details?.jobId
  const newestOfJob = (entry: Entry) => all.find((other) => jobOf(other) === jobOf(entry)) === entry
  const folded = all
    .filter((entry) => jobOf(entry) === undefined || newestOfJob(entry))
    .map((entry) =>
      jobOf(entry) === undefined
        ? entry
        : { ...entry, jobEntryCount: all.filter((other) => jobOf(other) === jobOf(entry)).length },
    )
  expect(folded.find((entry) => jobOf(entry) === jobId).jobEntryCount).toBe(2)
  expect(await found(org, { foldJobs: 'true' })).toEqual(folded)
  expect(await found(org, { foldJobs: 'false' })).toEqual(all)
  // A page ends where the next entry would be one more, so it has all that it says it has.
  const paged: Entry[] = []
  let token = ''
  do {
    const page = await read(org, org.key, asQuery({ foldJobs: 'true', pageSize: '2', pageToken: token }))
    expect(page.body.logs.length).toBeLessThanOrEqual(2)
    paged.push(...page.body.logs)
    token = page.body.nextPageToken
    if (token !== '') expect((await read(org, org.key, asQuery({ pageToken: token }))).status).toBe(400)
  } while (token !== '')
  const standsFor = ({ jobEntryCount = 1 }: Entry): number => jobEntryCount
  expect(paged.map(standsFor).reduce((sum, count) => sum + count)).toBe(all.length)
})

test('a restricted caller finds nothing by what it does not see [contract 11.access]', async () => {
  const { org } = await auditSite(harness)
  const north = await regionAdmin(harness, org, [1])
  // Both rooms change in one entry, of which the caller sees a part.
  await org.call('PUT', '/rooms/2', { body: { name: 'Secret', locationId: 2 } })
  await org.call('PUT', '/rooms/2', { body: { name: 'Secret', locationId: 1 } })
  await org.call('PUT', '/rooms/2', { body: { name: 'Plain', locationId: 2 } })
  const seen: Entry[] = (await read(org, north.key)).body.logs
  for (const filters of [{ text: 'secret' }, { target: 'Secret' }, { target: 'room:2' }, { text: 'updated' }]) {
    const entries = await found(org, filters, north.key)
    const ids = new Set(idsOf(seen))
    expect(entries.filter(({ id }) => !ids.has(id))).toEqual([])
    if ('target' in filters || filters.text === 'secret') {
      for (const entry of entries) expect(JSON.stringify(entry), JSON.stringify(filters)).toMatch(/Secret|"id":"2"/)
    }
  }
})

test('the CSV has what the filters find, and its entry names them', async () => {
  const { org } = await auditSite(harness)
  const whole = await found(org, { type: 'ROOM_CREATED' })
  const csv = await org.call('GET', everything + asQuery({ type: 'ROOM_CREATED', text: '' }), {
    headers: { accept: 'text/csv' },
  })
  const lines = csv.text.trimEnd().split('\r\n').slice(1)
  expect(lines.map((line) => line.split(',')[0])).toEqual(idsOf(whole))
  const [exported] = await org.audit()
  expect(exported).toMatchObject({ type: 'AUDIT_EXPORTED', details: { after: { type: 'ROOM_CREATED' } } })
  expect(exported.details.after).not.toHaveProperty('text')
})
