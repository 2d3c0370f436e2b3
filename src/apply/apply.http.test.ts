// Export, plan and apply against a real service.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enrolTestDevice } from '../../test/support/devices/test-device.ts'
import { closedUrl, newFixture, sourceDeviceKey } from '../../test/support/fixture.ts'
import { type Harness, startHarness, type TestOrg } from '../../test/support/harness.ts'
import { generatedRuns } from '../../test/support/long-form.ts'
import { type Draft, edited, type Gen, generatedDocument } from '../../test/support/plan/generated.ts'
import { ModelOrganisation } from '../../test/support/plan/model.ts'
import { makeClient } from '../client/client.ts'
import { waitingFetch } from '../client/waiting-fetch.ts'
import { checkDocument } from '../plan/check-document.ts'
import type { OrganisationDocument } from '../plan/document.ts'
import { documentOf } from '../plan/document-of.ts'
import { makePlan } from '../plan/make-plan.ts'
import type { PlanOptions } from '../plan/plan.ts'
import type { Kind, Snapshot } from '../plan/things.ts'
import { type ApplyOptions, applyPlan } from './apply-plan.ts'
import { readOrganisation } from './read-organisation.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({ outboundAllow: ['127.0.0.1'] })
})
afterAll(() => harness.close())

const secretOf = (name: string) => (name.endsWith('PASSWORD') ? `secret of ${name}` : closedUrl)

type WithClient = Pick<TestOrg, 'client'>
const planFor = async ({ client }: WithClient, document: OrganisationDocument, options: PlanOptions = {}) =>
  makePlan(document, await readOrganisation(client, document), options)

async function applyTo(
  org: WithClient,
  document: OrganisationDocument,
  options: PlanOptions & Partial<ApplyOptions> = {},
) {
  const plan = await planFor(org, document, options)
  expect(plan.problems).toEqual([])
  const outcomes = await applyPlan(org.client, plan, { secretOf, ...options })
  return { plan, outcomes, failures: outcomes.filter(({ state }) => state !== 'done') }
}

const exportOf = async (org: WithClient) => documentOf(await readOrganisation(org.client, undefined))

/** A document without the organisation, and without ids of things and in references, which differ in a copy. */
const withoutIds = (document: OrganisationDocument): unknown => {
  const { organisation: _, ...sections } = document
  return JSON.parse(JSON.stringify(sections), (key, value) =>
    key === 'id' && typeof value !== 'object' ? undefined : value,
  )
}

const weekly = { days: ['mon' as const, 'sat' as const], from: '20:00', to: '05:00' }
/** One thing of each kind that needs no device, with every field. */
const whole = (organisation: string): OrganisationDocument => ({
  organisation,
  regions: [
    { name: 'Asia', locations: [] },
    {
      name: 'Europe',
      externalId: 'EU',
      locations: [
        { name: 'Größe 東京', rooms: [] },
        {
          name: 'Oslo HQ',
          externalId: 'OSL',
          timezone: 'Europe/Oslo',
          changeWindow: weekly,
          address: 'Storgata 1\n0155 Oslo',
          contact: 'Reception',
          rooms: [
            {
              name: 'Fjord',
              externalId: 'OSL-1',
              capacity: 8,
              tags: ['board', 'video'],
              floor: '2',
              contact: 'Ada',
              fields: { cost_centre: '4711', env: 'prod' },
              profile: 'Quiet',
            },
          ],
        },
      ],
    },
  ],
  locations: [{ name: 'Storage', rooms: [{ name: 'Fjord' }] }],
  rooms: [{ name: 'Fjord', capacity: 2 }],
  profiles: [
    {
      name: 'Quiet',
      externalId: 'P1',
      description: 'Dark\nand silent',
      config: { nightMode: true, settingsPassword: { env: 'PROFILE_QUIET_SETTINGS_PASSWORD' } },
    },
  ],
  gatewayDevices: [],
  users: [
    { email: 'ada@example.org', name: 'Ada', role: 'admin', allRegions: false, regions: ['Asia', 'Europe'] },
    { email: 'bo@example.org', role: 'viewer', allRegions: true, regions: [], disabled: true },
  ],
  incidentRules: {
    'storage.low': {
      enabled: true,
      severity: 'INFO',
      holdMinutes: 5,
      clearMinutes: 0,
      limits: { endsAtPercent: 15, opensBelowPercent: 10 },
    },
  },
  silences: [{ place: { location: ['Europe', 'Oslo HQ'] }, rules: ['device.offline'], reason: 'Nights', weekly }],
  channels: [
    {
      name: 'Operations',
      kind: 'webhook',
      url: { env: 'CHANNEL_OPERATIONS_URL' },
      events: ['incident.opened', 'incident.resolved'],
      minSeverity: 'CRITICAL',
      rules: ['device.offline', 'job.stopped'],
      regions: ['Europe'],
      locations: ['Storage', ['Europe', 'Oslo HQ']],
      enabled: true,
      hours: weekly,
      heartbeatMinutes: 60,
    },
  ],
})

test('export, import into an empty organisation, export: equal but for ids and secrets', async () => {
  const [a, b] = [await harness.newOrg(), await harness.newOrg()]
  const made = await applyTo(a, whole(a.id))
  expect(made.failures).toEqual([])
  const exported = await exportOf(a)
  expect(checkDocument(exported)).toEqual({ document: exported })
  expect(withoutIds(exported)).toEqual(withoutIds(whole(a.id)))
  expect(JSON.stringify(await exportOf(a))).toBe(JSON.stringify(exported))
  expect((await applyTo(b, exported)).failures).toEqual([])
  expect(withoutIds(await exportOf(b))).toEqual(withoutIds(exported))
  expect(await planFor(a, exported, { prune: true })).toMatchObject({ steps: [], problems: [], hints: [] })
  expect(await planFor(b, exported, { prune: true })).toMatchObject({
    steps: [],
    problems: [],
    hints: [{ pointer: '/organisation', message: expect.stringContaining('so its ids are ignored') }],
  })
  const [channel] = made.outcomes.filter(({ step }) => step.kind === 'channel')
  expect(channel).toMatchObject({ answer: { secret: expect.stringMatching(/^whsec_/) } })
})

test('an export of an organisation with devices fits its shape, leaves out those of sources, and its plan is empty', async () => {
  const org = await newFixture(harness)
  const adoption = { devices: [{ key: sourceDeviceKey, state: 'ADOPTED', roomId: org.room }] }
  expect((await org.call('PUT', `/sources/${org.source}/devices`, { body: adoption })).status).toBe(200)
  const document = await exportOf(org)
  expect(checkDocument(document)).toEqual({ document })
  expect(document.gatewayDevices).toMatchObject([{ driver: 'roomos', room: ['Europe', 'Oslo HQ', 'Fjord'] }])
  const plan = await planFor(org, document, { prune: true })
  expect(plan).toMatchObject({ steps: [], problems: [], hints: [] })
})

test('steps that change or unenrol endpoints say how many, and what was changed since the plan stops its step only', async () => {
  const org = await newFixture(harness)
  const profiles = [{ id: org.profile, name: 'Quiet', config: { brightness: 0.5 } }]
  const regions = [
    {
      id: org.region,
      name: 'Europe',
      locations: [{ id: org.location, name: 'Oslo', rooms: [{ id: org.room, name: 'Fjell', profile: 'Quiet' }] }],
    },
  ]
  const plan = await planFor(org, { organisation: org.id, profiles, regions })
  expect(plan.steps.map(({ operation, needs, endpointCount }) => [operation, needs, endpointCount])).toEqual([
    ['profilesUpdate', undefined, undefined],
    ['locationsUpdate', undefined, undefined],
    ['roomsUpdate', undefined, undefined],
    ['roomsAssignProfile', 'rollout', 1],
  ])
  await org.call('PUT', `/locations/${org.location}`, { body: { timezone: 'Europe/Oslo' } })
  const outcomes = await applyPlan(org.client, plan, { secretOf })
  expect(outcomes.map((outcome) => (outcome.state === 'done' ? 'done' : outcome.reason))).toEqual([
    'done',
    'The timezone of the location was changed since the plan was made. Make a new plan.',
    'done',
    'done',
  ])
  expect((await org.call('GET', `/rooms/${org.room}`)).body).toMatchObject({
    name: 'Fjell',
    location: { id: org.location },
    profileId: org.profile,
  })
  const pruned = await planFor(org, { organisation: org.id, regions: [], gatewayDevices: [] }, { prune: true })
  expect(pruned.steps.find(({ operation }) => operation === 'roomsDelete')).toMatchObject({
    needs: 'unenrol',
    endpointCount: 1,
  })
})

test('another config of a profile stops if more devices have the profile than the plan said, and another name does not', async () => {
  const org = await newFixture(harness)
  const changed = (profile: object): OrganisationDocument => ({
    organisation: org.id,
    profiles: [{ id: org.profile, name: 'Quiet', ...profile }],
  })
  const config = await planFor(org, changed({ config: { brightness: 0.5 } }))
  const name = await planFor(org, changed({ name: 'Silent' }))
  expect(config.steps[0]?.needs).toBeUndefined()
  await org.client.roomsAssignProfile({ id: org.room, body: { profileId: org.profile } })
  expect(await applyPlan(org.client, config, { secretOf })).toMatchObject([
    { state: 'failed', reason: 'A device got the profile since the plan was made. Make a new plan.' },
  ])
  expect(await applyPlan(org.client, name, { secretOf })).toMatchObject([{ state: 'done' }])
  const { body } = await org.client.profilesGet({ id: org.profile })
  expect([body.profile.name, body.config]).toEqual(['Silent', { nightMode: true }])
})

test('a write has the ETag just read: another version is read again, and another value stops the step [contract 14.apply]', async () => {
  const org = await newFixture(harness)
  let overtake: (() => Promise<unknown>) | undefined
  let puts = 0
  /** Another writer comes between the reading and the first writing. */
  const overtaken: typeof fetch = async (input, init) => {
    if (init?.method === 'PUT') {
      puts++
      await overtake?.()
      overtake = undefined
    }
    return fetch(input, init)
  }
  const client = makeClient({ baseUrl: harness.url, org: org.id, token: org.key, fetch: overtaken })
  const room = { id: org.room, name: 'Fjell', capacity: 9 }
  const locations = [{ id: org.location, name: 'Oslo HQ', rooms: [room] }]
  const document = { organisation: org.id, regions: [{ id: org.region, name: 'Europe', locations }] }
  const read = async () => (await org.call('GET', `/rooms/${org.room}`)).body
  const before = await read()
  const plan = await planFor(org, document)
  expect(plan.steps.map(({ operation }) => operation)).toEqual(['roomsUpdate'])

  overtake = () =>
    org.call('PUT', `/rooms/${org.room}`, { body: { ...before, locationId: org.location, capacity: 20 } })
  expect(await applyPlan(client, plan, { secretOf })).toMatchObject([
    { state: 'failed', reason: 'The capacity of the room was changed since the plan was made. Make a new plan.' },
  ])
  expect(await read()).toMatchObject({ name: before.name, capacity: 20 })
  expect(puts).toBe(1)

  const next = await planFor(org, document)
  overtake = () => org.call('PUT', `/regions/${org.region}`, { body: { name: 'EMEA' } })
  expect(await applyPlan(client, next, { secretOf })).toMatchObject([{ state: 'done' }])
  expect(await read()).toMatchObject({ name: 'Fjell', capacity: 9, location: { id: org.location } })
  expect(puts).toBe(3)
})

test('an export has only things that a restricted key sees, and a plan says which steps the key cannot do', async () => {
  const org = await harness.newOrg()
  await applyTo(org, whole(org.id))
  const all = await exportOf(org)
  const europe = all.regions?.find(({ name }) => name === 'Europe')
  const token = await org.newKey({ regionIds: [europe?.id as number], scopes: ['read', 'write'], manage: false })
  const client = makeClient({ baseUrl: harness.url, org: org.id, token })
  const seen = await exportOf({ client })
  expect(seen).toMatchObject({ regions: [{ name: 'Europe' }] })
  // The key does not know whether there are any.
  expect([seen.locations, seen.rooms]).toEqual([undefined, undefined])
  expect(seen.regions).toHaveLength(1)
  // The key sees users without their other regions.
  expect([seen.channels, seen.users]).toEqual([undefined, undefined])
  const edit = structuredClone(all) as Draft
  edit.regions?.find(({ name }) => name === 'Europe')?.locations?.push({ name: 'Bergen' })
  const { plan, outcomes } = await applyTo({ client }, edit)
  const said = plan.steps.map(({ path, forbidden }) => [path.join('/'), forbidden !== undefined])
  expect(said).toContainEqual(['Europe/Bergen', false])
  expect(said).toContainEqual(['Asia', true])
  expect(said).toContainEqual(['Storage', true])
  expect(plan.unreadable.map(({ pointer }) => pointer)).toEqual(['/users', '/channels'])
  for (const { step, state } of outcomes)
    expect([step.path, state]).toEqual([step.path, step.forbidden || step.dependsOn.length > 0 ? 'stopped' : 'done'])
  const names = (await exportOf(org)).regions?.map(({ name }) => name)
  expect(names).toEqual(['Asia', 'Europe'])
})

test('a plan is what then happens in a real organisation, as the audit log says', { timeout: 1_200_000 }, async () => {
  const runs = generatedRuns({ short: 3, full: 60, long: 300 })
  let planned = 0
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const make: Gen = (arbitrary) => gen(arbitrary)
      const org = await harness.newOrg()
      await applyTo(org, generatedDocument(make, org.id))
      const options = { prune: make(fc.boolean) }
      // A prune can delete the room of an endpoint, which the document could not name afterwards.
      const endpoints = options.prune ? [] : [await enrolled(org)]
      const read = () => readOrganisation(org.client, { ...everySection(org.id), endpoints })
      const before = await read()
      const document = edited(make, documentOf(before), before)
      const plan = await planFor(org, document, options)
      const written = (await org.audit()).length
      if (plan.problems.length > 0) return
      planned++
      const model = new ModelOrganisation(before)
      model.run(plan.steps)
      expect((await applyTo(org, document, options)).failures).toEqual([])
      expect((await org.audit()).length - written).toBe(plan.steps.length)
      expect(withoutIds(await exportOf(org))).toEqual(withoutIds(documentOf(model.snapshot())))
      const ofEndpoints = ({ things }: Snapshot) => things.filter(({ kind }) => kind === 'endpoint')
      expect(ofEndpoints(await read())).toEqual(ofEndpoints(model.snapshot()))
      expect((await planFor(org, document, options)).steps).toEqual([])
    }),
    { ...runs, endOnFailure: true },
  )
  // The others have mistakes.
  expect(planned).toBeGreaterThanOrEqual(runs.numRuns / 3)
})

/** Enrols an endpoint in a room of its own. */
async function enrolled(org: TestOrg): Promise<{ serial: string }> {
  const room = await org.client.roomsCreate({ body: { name: 'Lab' } })
  const { serial } = await enrolTestDevice(harness, org, { roomId: room.body.id })
  return { serial }
}

const everySection = (organisation: string): OrganisationDocument => ({
  ...{ organisation, regions: [], locations: [], rooms: [], profiles: [], gatewayDevices: [] },
  ...{ users: [], incidentRules: {}, silences: [], channels: [] },
})

test('two runs of one plan make each thing once, and what was renamed or deleted since is made again', async () => {
  const org = await newFixture(harness)
  const { serial } = (await org.client.endpointsGet({ id: org.gateway })).body
  const weekly = { days: ['mon' as const], from: '20:00', to: '05:00' }
  const document: OrganisationDocument = {
    organisation: org.id,
    regions: [{ name: 'Nordics', locations: [{ name: 'Oslo', rooms: [{ name: 'Fjell' }, { name: 'Bay' }] }] }],
    profiles: [
      { name: 'Dark', config: { nightMode: true } },
      { name: 'Locked', config: { nightMode: true, settingsPassword: { env: 'LOCKED_PASSWORD' } } },
    ],
    users: [{ email: 'bo@example.org', role: 'viewer' }],
    silences: [{ place: { all: true }, reason: 'Nights', weekly }],
    // The service stores no answer to a new channel, because that of a webhook shows a secret.
    channels: [
      { name: 'Desk', kind: 'email', to: ['desk@example.org'], minSeverity: 'CRITICAL' },
      { name: 'Hook', kind: 'webhook', url: { env: 'HOOK_URL' }, regions: ['Nordics'] },
    ],
    gatewayDevices: [
      {
        gateway: serial,
        driver: 'pjlink',
        host: '10.20.4.31',
        secret: { env: 'PROJECTOR_PASSWORD' },
        room: ['Nordics', 'Oslo', 'Bay'],
      },
    ],
  }
  const before = (await org.audit()).length
  const made = async () =>
    (await org.audit())
      .toReversed()
      .slice(before)
      .flatMap(({ type, target }) => (/(CREATED|INVITED)$/.test(type) ? [`${type} ${target.name}`] : []))
  const plan = await planFor(org, document)
  // The service can still carry out requests of a process that was killed, while the next one runs.
  const waiting = waitingFetch(() => {})
  const client = makeClient({ baseUrl: harness.url, org: org.id, token: org.key, fetch: waiting })
  const runs = await Promise.all([1, 2, 3].map(() => applyPlan(client, plan, { secretOf })))
  for (const outcomes of runs) expect(outcomes.filter(({ state }) => state !== 'done')).toEqual([])
  expect(await made()).toHaveLength(plan.steps.length)
  expect((await made()).sort()).toEqual([...new Set(await made())].sort())
  expect((await planFor(org, document)).steps).toEqual([])
  const things = await readOrganisation(org.client, undefined)
  const idOf = (kind: Kind, name: string) =>
    things.things.find((thing) => thing.kind === kind && thing.values.name === name)?.id

  await org.call('DELETE', `/rooms/${idOf('room', 'Fjell')}`)
  await org.call('DELETE', `/channels/${idOf('channel', 'Desk')}`)
  await org.call('DELETE', `/profiles/${idOf('profile', 'Locked')}`)
  await org.client.roomsUpdate({
    id: idOf('room', 'Bay') as number,
    body: { name: 'Another', locationId: idOf('location', 'Oslo') as number },
  })
  const { gatewayDevices: _, ...rest } = document
  expect((await applyTo(org, rest)).failures).toEqual([])
  expect((await made()).slice(plan.steps.length).sort()).toEqual([
    'CHANNEL_CREATED Desk',
    'PROFILE_CREATED Locked',
    'ROOM_CREATED Bay',
    'ROOM_CREATED Fjell',
  ])
})

test('a request whose answer is no longer stored, or whose variable has another value, makes nothing a second time', async () => {
  const org = await harness.newOrg()
  const document: OrganisationDocument = {
    organisation: org.id,
    regions: [{ name: 'Europe' }],
    rooms: [{ name: 'Fjord', fields: { env: 'prod' } }],
    profiles: [{ name: 'Locked', config: { settingsPassword: { env: 'LOCKED_PASSWORD' } } }],
  }
  const plan = await planFor(org, document)
  const statesOfRun = async (password: string) =>
    (await applyPlan(org.client, plan, { secretOf: () => password })).map(({ state }) => state)
  expect(await statesOfRun('correct horse')).toEqual(['done', 'done', 'done'])
  // As with answers beyond those that the service stores. [contract 7.once]
  await harness.services.db.schema
    .updateTable('idempotency_keys')
    .set({ answer: null })
    .where('org', '=', org.org.key)
    .execute()
  const { length } = await org.audit()
  expect(await statesOfRun('battery staple')).toEqual(['done', 'done', 'done'])
  expect(await org.audit()).toHaveLength(length)
})

test('a copy of an entry makes a second thing, also where an equal one was made a moment ago', async () => {
  const org = await harness.newOrg()
  const room = { name: 'Fjord', capacity: 4 }
  expect((await applyTo(org, { organisation: org.id, rooms: [room] })).failures).toEqual([])
  // The copy has the place in the document that the first room had.
  const document = { organisation: org.id, rooms: [room, { ...room, id: 1 }, { name: 'Bay' }] }
  expect((await applyTo(org, document)).failures).toEqual([])
  expect((await org.audit()).filter(({ type }) => type === 'ROOM_CREATED')).toHaveLength(3)
  const again = await planFor(org, document)
  expect(again.steps).toEqual([])
})

test('a change or deletion that an interrupted run has made since the plan counts as done, and is written once', async () => {
  const org = await newFixture(harness)
  const regions = [
    {
      id: org.region,
      name: 'Europe',
      locations: [
        { id: org.location, name: 'Oslo HQ', timezone: 'Europe/Oslo', rooms: [{ id: org.room, name: 'Fjell' }] },
      ],
    },
  ]
  const spare = await org.client.locationsCreate({ body: { name: 'Spare', regionId: org.region } })
  const plan = await planFor(org, { organisation: org.id, regions }, { prune: true })
  expect(plan.steps.map(({ operation, id }) => [operation, id])).toEqual([
    ['locationsUpdate', org.location],
    ['roomsUpdate', org.room],
    ['locationsDelete', spare.body.id],
    ['regionsDelete', 2],
  ])
  const statesOfRun = async () => (await applyPlan(org.client, plan, { secretOf })).map(({ state }) => state)
  expect(await statesOfRun()).toEqual(Array(4).fill('done'))
  const { length } = await org.audit()
  expect(await statesOfRun()).toEqual(Array(4).fill('done'))
  expect(await org.audit()).toHaveLength(length)
})

test('interrupted at any request and repeated: the same end, and nothing twice', { timeout: 1_200_000 }, async () => {
  const reference = await harness.newOrg()
  await applyTo(reference, whole(reference.id))
  const end = withoutIds(await exportOf(reference))
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 40 }), fc.boolean(), async (count, isAnswerLost) => {
      const org = await harness.newOrg()
      let left = count
      /** The process ends before the request, or after the service has carried it out. Each request goes to the next node. */
      const dying: typeof fetch = async (input, init) => {
        if (left > 0 || (left === 0 && isAnswerLost)) {
          const url = harness.nodeUrls[left % harness.nodeUrls.length] as string
          const response = await fetch(String(input).replace(harness.url, url), init)
          if (left-- > 0) return response
          await response.text()
        }
        throw new Error('interrupted')
      }
      const client = makeClient({ baseUrl: harness.url, org: org.id, token: org.key, fetch: dying })
      await applyTo({ client }, whole(org.id)).catch((error: Error) => expect(error.message).toBe('interrupted'))
      expect((await applyTo(org, whole(org.id))).failures).toEqual([])
      expect(withoutIds(await exportOf(org))).toEqual(end)
    }),
    { ...generatedRuns({ short: 3, full: 40, long: 200 }), endOnFailure: true },
  )
})
