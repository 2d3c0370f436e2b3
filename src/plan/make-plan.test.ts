// The rules of a plan, one by one: who is meant, what is left alone, what is deleted, what needs an option.
import { expect, test } from 'vitest'
import { storedSecret } from './compare.ts'
import type { OrganisationDocument } from './document.ts'
import { makePlan } from './make-plan.ts'
import type { PlanOptions } from './plan.ts'
import type { Id, Kind, OrganisationThing, Snapshot, Values } from './things.ts'

const thing = (kind: Kind, id: Id, values: Values): OrganisationThing => ({ kind, id, values })
const to = (kind: Kind, id: Id) => ({ kind, id })

const europe = thing('region', 1, { name: 'Europe' })
const oslo = thing('location', 1, { name: 'Oslo', region: to('region', 1), externalId: 'OSL' })
const fjord = thing('room', 1, { name: 'Fjord', location: to('location', 1), capacity: 8, profile: to('profile', 1) })
const bay = thing('room', 2, { name: 'Bay', location: to('location', 1), fields: { env: 'prod', floor: 'x' } })
const lobby = thing('room', 3, { name: 'Lobby' })
const quiet = thing('profile', 1, { name: 'Quiet', config: { nightMode: true, settingsPassword: storedSecret } })
const ada = thing('user', '1', {
  email: 'Ada@example.org',
  role: 'admin',
  allRegions: true,
  regions: [],
  disabled: false,
})
const weekly = { days: ['mon' as const], from: '20:00', to: '05:00' }
const nights = thing('silence', '1', { place: to('location', 1), reason: 'Nights', weekly })
const device = thing('gatewayDevice', 'd1', {
  gateway: 'g1',
  driver: 'roomos',
  host: '10.0.0.1',
  port: 443,
  username: 'admin',
  secret: storedSecret,
  fingerprint: 'AA',
  room: to('room', 1),
  options: {},
})

const snapshot = (more: Partial<Snapshot> = {}): Snapshot => ({
  organisation: 'own',
  permissions: { read: true, operate: true, write: true, manage: true, everywhere: true, auditLog: true },
  seesAllRegions: true,
  things: [europe, oslo, fjord, bay, lobby, quiet, ada, nights, device],
  hiddenKinds: [],
  endpointsByRoom: new Map([[1, 2]]),
  profileUses: new Map([[1, { endpointCount: 2, endpointsByRoom: new Map([[1, 2]]) }]]),
  ownerEmails: ['boss@example.org'],
  gateways: [{ id: 'g1', serial: 'GW-1', name: 'Basement' }],
  ...more,
})
type Sections = Omit<OrganisationDocument, 'organisation'>
const planOf = (sections: Sections, options: PlanOptions = {}, from = snapshot(), organisation = 'own') =>
  makePlan({ organisation, ...sections }, from, options)
const stepsOf = (...args: Parameters<typeof planOf>) => {
  const { steps, problems } = planOf(...args)
  expect(problems).toEqual([])
  return steps.map(({ operation, id, changes }) => [operation, id, ...changes.map(({ field }) => field)])
}
const problemsOf = (...args: Parameters<typeof planOf>) => planOf(...args).problems.map(({ message }) => message)

test('a thing is found by its id, else by its externalId, else by its path [contract 14.identity]', () => {
  const room = { name: 'Fjell', capacity: 8 }
  expect(stepsOf({ rooms: [{ id: 1, ...room }] })).toEqual([['roomsUpdate', 1, 'name', 'location']])
  expect(stepsOf({ locations: [{ externalId: 'OSL', name: 'Oslo' }] })).toEqual([['locationsUpdate', 1, 'region']])
  expect(stepsOf({ rooms: [{ name: 'Lobby', capacity: 8 }] })).toEqual([['roomsUpdate', 3, 'capacity']])
  expect(stepsOf({ users: [{ email: 'ada@EXAMPLE.org', role: 'viewer' }] })).toEqual([
    ['usersUpdate', '1', 'email', 'role'],
  ])
  expect(stepsOf({ gatewayDevices: [{ gateway: 'GW-1', driver: 'roomos', host: '10.0.0.1', username: 'x' }] })).toEqual(
    [['gatewayDevicesUpdate', 'd1', 'username']],
  )
})

test('a custom field can have the name of a property that every object has', () => {
  const named = thing('room', 5, { name: 'Dock', fields: { constructor: 'ACME' } })
  const from = snapshot({ things: [named, lobby] })
  expect(stepsOf({ rooms: [{ id: 5, name: 'Dock', fields: { wall: 'B2' } }] }, {}, from)).toEqual([
    ['roomsUpdate', 5, 'fields.wall'],
  ])
  const [step] = planOf({ rooms: [{ id: 3, name: 'Lobby', fields: { constructor: 'ACME' } }] }, {}, from).steps
  expect(step).toMatchObject({
    changes: [{ field: 'fields.constructor', to: 'ACME' }],
    after: { fields: { constructor: 'ACME' } },
  })
})

test('a silence that has ended is left alone, with a hint', () => {
  const to = '2026-05-31T08:00:00Z'
  const silences = [{ place: { location: ['Europe', 'Oslo'] }, reason: 'Works', weekly, to }]
  const sections = { regions: [{ name: 'Europe', locations: [{ name: 'Oslo' }] }], silences }
  expect(stepsOf(sections, { now: Date.parse(to) - 1 }).map(([operation]) => operation)).toEqual(['silencesCreate'])
  const ended = planOf(sections, { now: Date.parse(to) })
  expect(ended).toMatchObject({ steps: [], problems: [] })
  expect(ended.hints.map(({ message }) => message)).toEqual([`The silence Works ended at ${to}. Remove the entry.`])
  expect(ended.entries.at(-1)).toMatchObject({ fate: 'unchanged', steps: [] })
})

test.each(['2026-12-01T18:00', '2026-12-01T19:00+01', '2026-12-01T18:00:00,0Z'])(
  'the end of a silence can be written as %s, as in requests',
  (to) => {
    const until = { ...nights, values: { ...nights.values, to: '2026-12-01T18:00:00.000Z' } }
    const silence = { place: { location: ['Europe', 'Oslo'] }, reason: 'Nights', weekly, to }
    const sections = { regions: [{ name: 'Europe', locations: [{ name: 'Oslo' }] }], silences: [silence] }
    expect(stepsOf(sections, {}, snapshot({ things: [europe, oslo, until] }))).toEqual([])
  },
)

test('a new gateway device needs what its driver needs', () => {
  const codec = { gateway: 'GW-1', driver: 'roomos' as const, host: '10.0.0.9' }
  expect(problemsOf({ gatewayDevices: [codec] })).toEqual([
    'The gateway device GW-1 / 10.0.0.9 is new and needs room and username and secret.',
  ])
  const projector = { ...codec, driver: 'pjlink' as const, room: 'Lobby' }
  expect(stepsOf({ gatewayDevices: [projector] })[0]?.[0]).toBe('gatewayDevicesCreate')
})

test('a secret option is refused as a text, and the refusal does not repeat it', () => {
  const snmp = { gateway: 'GW-1', driver: 'snmp' as const, host: '10.0.0.2', room: 'Lobby' }
  const problems = problemsOf({ gatewayDevices: [{ ...snmp, options: { privSecret: 'hunter2' } }] })
  expect(problems).toEqual(['The option privSecret is a secret. Write {env: NAME}.'])
  expect(problemsOf({ gatewayDevices: [{ ...snmp, options: { version: { env: 'VERSION' } } }] })).toEqual([
    'The option version is not a secret. Write its value.',
  ])
  expect(problemsOf({ gatewayDevices: [{ ...snmp, options: { privSecret: { env: 'PRIV' }, version: '3' } }] })).toEqual(
    [],
  )
})

test('the deletion of a gateway device that is enrolled says that it unenrols the device', () => {
  const enrolled = thing('gatewayDevice', 'd1', { ...device.values, endpoint: 'e1' })
  const things = [europe, oslo, fjord, quiet, enrolled]
  const deletion = (from: Snapshot) => planOf({ gatewayDevices: [] }, { prune: true }, from).steps[0]
  expect(deletion(snapshot({ things }))).toMatchObject({ needs: 'unenrol', endpointCount: 1 })
  expect(deletion(snapshot())?.needs).toBeUndefined()
})

test('in another organisation ids are ignored, and references by id mean entries of the document', () => {
  const document = {
    regions: [{ id: 7, name: 'Europe' }],
    users: [{ email: 'bo@example.org', role: 'viewer' as const, regions: [{ id: 7 }] }],
  }
  expect(stepsOf({ rooms: [{ id: 1, name: 'Hall' }] }, {}, snapshot(), 'other')).toEqual([
    ['roomsCreate', undefined, 'name'],
  ])
  const [step] = planOf(document, {}, snapshot(), 'other').steps
  expect(step).toMatchObject({ operation: 'usersCreate', after: { regions: [to('region', 1)] } })
})

test('a path that matches two things is refused with both ids, and two entries with one path with both places', () => {
  const twins = snapshot({ things: [lobby, { ...lobby, id: 4 }] })
  expect(problemsOf({ rooms: [{ name: 'Lobby' }] }, {}, twins)).toEqual([
    'The path Lobby matches several rooms, with the ids 3 and 4. Add the id or an externalId to each.',
  ])
  const findPlace = (pointer: string) => ({ line: pointer.endsWith('0') ? 3 : 4 })
  expect(problemsOf({ rooms: [{ name: 'Hall' }, { name: 'Hall' }] }, { findPlace })).toEqual([
    'Several entries have the path Hall (line 3 and line 4). Add the id or an externalId to each.',
  ])
  expect(
    stepsOf({
      rooms: [
        { name: 'Hall', externalId: 'A' },
        { name: 'Hall', externalId: 'B' },
      ],
    }),
  ).toHaveLength(2)
})

test.each<[what: string, sections: Sections, problem: RegExp]>([
  [
    'one id twice',
    {
      rooms: [
        { id: 3, name: 'A' },
        { id: 3, name: 'B' },
      ],
    },
    /The id 3 is also that of the entry/,
  ],
  [
    'a taken externalId',
    {
      locations: [{ name: 'Oslo' }, { name: 'Bergen', externalId: 'OSL' }],
      regions: [{ name: 'Europe', locations: [{ id: 1, name: 'Oslo', externalId: 'X' }] }],
    },
    /The externalId OSL belongs to location 1/,
  ],
  [
    'an unknown reference',
    { rooms: [{ name: 'Lobby', profile: 'Loud' }] },
    /^No profile has the path "Loud"\. Correct it, or create the profile\.$/,
  ],
  ['an endpoint that is not enrolled', { endpoints: [{ serial: 'X' }] }, /^No endpoint has the serial number X\./],
  [
    'a gateway that does not exist',
    { gatewayDevices: [{ gateway: 'Attic', driver: 'reach', host: 'x' }] },
    /^No gateway has/,
  ],
  ['a new person without a role', { users: [{ email: 'bo@example.org' }] }, /is new and needs a role/],
])('%s is refused', (_, sections, problem) => {
  const plan = planOf(sections)
  expect(plan.problems.map(({ message }) => message).join('\n')).toMatch(problem)
  expect(plan.steps).toEqual([])
})

test('a problem is at the value that is wrong', () => {
  const pointersOf = (sections: Sections) => planOf(sections).problems.map(({ pointer }) => pointer)
  expect(
    pointersOf({
      rooms: [
        { name: 'Hall', profile: 'Loud' },
        { name: 'A', externalId: 'E' },
        { name: 'B', externalId: 'E' },
      ],
      users: [{ email: 'ada@example.org', role: 'viewer', regions: ['Europe', 'Mars'] }],
      silences: [{ place: { location: 'Mars' }, reason: 'x', weekly }],
      endpoints: [{ serial: 'X' }],
    }).sort(),
  ).toEqual([
    '/endpoints/0/serial',
    '/rooms/0/profile',
    '/rooms/2/externalId',
    '/silences/0/place/location',
    '/users/0/regions/1',
  ])
})

test('only what is named is touched, null clears, and maps are compared key by key [contract 14.changes]', () => {
  expect(stepsOf({})).toEqual([])
  const room = { id: 2, name: 'Bay', fields: { env: 'test', floor: null, new: 'x' } }
  const plan = planOf({ regions: [{ name: 'Europe', locations: [{ name: 'Oslo', rooms: [room] }] }] })
  expect(plan.steps).toMatchObject([
    {
      operation: 'roomsUpdate',
      changes: [
        { field: 'fields.env', from: 'prod', to: 'test' },
        { field: 'fields.floor', from: 'x' },
        { field: 'fields.new', to: 'x' },
      ],
      after: { name: 'Bay', location: to('location', 1), fields: { env: 'test', floor: null, new: 'x' } },
    },
  ])
})

test('a list that has an item twice is the same list, and a room cannot get more custom fields than it can have', () => {
  const tagged = thing('room', 5, { name: 'Dock', tags: ['board', 'video'] })
  const tags = ['video', 'board', 'video']
  expect(stepsOf({ rooms: [{ name: 'Dock', tags }] }, {}, snapshot({ things: [tagged] }))).toEqual([])
  const fields = Object.fromEntries(Array.from({ length: 19 }, (_, i) => [`f${i}`, 'x']))
  const problems = (more: object) =>
    problemsOf({
      regions: [
        { name: 'Europe', locations: [{ name: 'Oslo', rooms: [{ name: 'Bay', fields: { ...fields, ...more } }] }] },
      ],
    })
  expect(problems({})).toEqual(['The room would have 21 custom fields, and can have 20. Clear some with null.'])
  expect(problems({ env: null })).toEqual([])
})

test('a prune deletes what a section leaves out, from the inside out, and never people', () => {
  expect(stepsOf({ rooms: [], users: [] }, { prune: false })).toEqual([])
  expect(stepsOf({ rooms: [], users: [], silences: [] }, { prune: true })).toEqual([
    ['silencesDelete', '1'],
    ['roomsDelete', 3],
  ])
  const plan = planOf({ regions: [], profiles: [] }, { prune: true })
  expect(plan.steps.map(({ operation, id, needs, dependsOn }) => [operation, id, needs, dependsOn])).toEqual([
    ['roomsDelete', 1, 'unenrol', []],
    ['roomsDelete', 2, undefined, []],
    ['locationsDelete', 1, undefined, [1, 2]],
    ['regionsDelete', 1, undefined, [3]],
    ['profilesDelete', 1, undefined, [1]],
  ])
  // A deletion has the place of the list that leaves the thing out.
  expect(plan.steps.map(({ pointer }) => pointer)).toEqual([...Array(4).fill('/regions'), '/profiles'])
  const emptied = { regions: [{ name: 'Europe', locations: [{ name: 'Oslo', rooms: [] }] }] }
  const findPlace = (pointer: string) => (pointer.endsWith('/rooms') ? { line: 7 } : undefined)
  expect(planOf(emptied, { prune: true, findPlace }).steps).toMatchObject([
    { id: 1, pointer: '/regions/0/locations/0/rooms', place: { line: 7 } },
    { id: 2, pointer: '/regions/0/locations/0/rooms', place: { line: 7 } },
  ])
  expect(problemsOf({ profiles: [] }, { prune: true })).toEqual([
    'The prune would delete profile 1 (Quiet), but room 1 (Europe / Oslo / Fjord) has it. Add it to the document, or remove what names it.',
  ])
})

test('owners are left alone, with a hint', () => {
  const plan = planOf({ users: [{ email: 'Boss@example.org', role: 'viewer' }] })
  expect(plan.steps).toEqual([])
  expect(plan.hints.map(({ message }) => message)).toEqual([expect.stringContaining('Boss@example.org is an owner')])
})

test('another silence is made before the old one is deleted, and after an interruption only the deletion is left', () => {
  const entry = {
    id: '1',
    place: { location: ['Europe', 'Oslo'] },
    reason: 'Nights',
    weekly: { ...weekly, from: '21:00' },
  }
  const plan = planOf({ silences: [entry] })
  expect(plan.steps).toMatchObject([
    { operation: 'silencesCreate' },
    { operation: 'silencesDelete', id: '1', dependsOn: [1] },
  ])
  const made = { ...nights, id: '2', values: { ...nights.values, weekly: entry.weekly } }
  expect(stepsOf({ silences: [entry] }, {}, snapshot({ things: [europe, oslo, nights, made] }))).toEqual([
    ['silencesDelete', '1'],
  ])
  expect(stepsOf({ silences: [entry] }, {}, snapshot({ things: [europe, oslo, made] }))).toEqual([])
})

test('secrets are not compared, and sent with setSecrets; settings of endpoints need an allowance', () => {
  const profiles = [{ name: 'Quiet', config: { settingsPassword: { env: 'PASSWORD' } } }]
  const plan = planOf({ profiles })
  expect(plan.entries).toMatchObject([{ fate: 'unchanged', notCompared: ['config.settingsPassword'] }])
  expect(planOf({ profiles }, { setSecrets: true }).steps).toMatchObject([
    { needs: 'rollout', endpointCount: 2, changes: [{ field: 'config.settingsPassword', to: '$PASSWORD' }] },
  ])
  expect(planOf({ profiles: [{ id: 1, name: 'Loud' }] }).steps[0]).not.toHaveProperty('needs')
})

test('another address of a gateway device sends its secret again, and drops the fingerprint [contract 13.secrets]', () => {
  const moved = { id: 'd1', gateway: 'Basement', driver: 'roomos' as const, host: '10.0.0.2' }
  const [step] = planOf({ gatewayDevices: [{ ...moved, secret: { env: 'CODEC' } }] }).steps
  expect(step?.changes.map(({ field }) => field)).toEqual(['host', 'secret', 'fingerprint'])
  expect(planOf({ gatewayDevices: [moved] }).hints).toHaveLength(1)
})

test('without an id a rename looks like a new thing, and a hint names what may be meant', () => {
  const plan = planOf({ rooms: [{ name: 'Hall' }] })
  expect(plan.hints.map(({ message }) => message)).toEqual([
    'The room Hall is new. If it was renamed from room 3 (Lobby), add its id.',
  ])
})

test('each step that the caller may not do says why', () => {
  const reader = snapshot({
    permissions: { ...snapshot().permissions, write: false, everywhere: false, manage: false },
    hiddenKinds: ['channel'],
  })
  const plan = planOf(
    { rooms: [{ name: 'Hall' }], channels: [{ name: 'Hook', kind: 'email', to: ['a@example.org'] }] },
    {},
    reader,
  )
  expect(plan.steps).toMatchObject([{ operation: 'roomsCreate', forbidden: 'The key lacks write.' }])
  expect(plan.unreadable).toHaveLength(1)
  const regional = snapshot({ seesAllRegions: false, permissions: { ...snapshot().permissions, everywhere: false } })
  expect(planOf({ rooms: [{ id: 9, name: 'Hall' }] }, {}, regional).steps[0]?.forbidden).toContain(
    'This key sees no room 9',
  )
  expect(planOf({ rooms: [{ name: 'Hall' }] }, {}, regional).steps[0]?.forbidden).toContain('limited to regions')
  expect(planOf({ regions: [{ name: 'Asia' }] }, {}, regional).steps[0]?.forbidden).toBe(
    'Only a key that sees all regions can do this.',
  )
})
