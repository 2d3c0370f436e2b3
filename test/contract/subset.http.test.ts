// Generated organisations: whatever a restricted caller gets is a part of what an owner gets, and names nothing that is hidden.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeClient, pathOf } from '../../src/client/client.ts'
import type { Event } from '../../src/contract/journal/events.ts'
import { operations } from '../../src/contract/operations.ts'
import {
  expectPart,
  findMentions,
  isThingVisible as isVisible,
  shownId,
  wasVisible,
} from '../support/contract/parts.ts'
import { number, type ReadId, readCalls } from '../support/contract/reads.ts'
import { follow } from '../support/event-follower.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm, runCount } from '../support/long-form.ts'
import { newPerson } from '../support/person.ts'
import { type Credentials, newApiKey } from '../support/places/callers.ts'
import {
  buildPlaces,
  everythingIn,
  type GeneratedPlaces,
  type PlacePlan,
  plans,
  sendSample,
  type Thing,
} from '../support/places/generated-places.ts'
import { findExcess } from '../support/places/json-subset.ts'
import { until } from '../support/program.ts'

const organisations = runCount({ short: 1, full: 2, long: 30 })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const callerKinds = ['admin', 'operator', 'viewer', 'key'] as const

async function newRestrictedCaller(places: GeneratedPlaces, kind: (typeof callerKinds)[number]): Promise<Credentials> {
  const regionIds = places.seenRegions.map(number)
  if (kind === 'key') return newApiKey(places, { scopes: ['read', 'write'], regionIds })
  return { key: (await newPerson(harness, places, { role: kind, regionIds })).key }
}

function send(places: GeneratedPlaces, id: ReadId, input: object, caller: Credentials, accept = 'application/json') {
  const path = pathOf(operations[id], places.id, input as Record<string, unknown>)
  return harness.call('GET', path, { ...caller, headers: { ...caller.headers, accept } })
}

const anyCase = fc.record({ plan: plans, kind: fc.constantFrom(...callerKinds) })

test(`${organisations} generated organisations: all answers to a restricted caller are parts of an owner's [contract 11.access]`, async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, async ({ plan, kind }) => {
      const places = await buildPlaces(harness, plan)
      const caller = await newRestrictedCaller(places, kind)
      const things = everythingIn(places)
      const hidden = things.filter((thing) => !isVisible(places, thing))
      const neverSeen = things.filter((thing) => !wasVisible(places, thing))
      for (const id of Object.keys(readCalls) as ReadId[]) {
        for (const input of (readCalls[id] as (p: GeneratedPlaces) => object[])(places)) {
          const what = `${id} ${JSON.stringify(input)} of ${kind}`
          const whole = await send(places, id, input, { key: places.key })
          const part = await send(places, id, input, caller)
          if (part.status !== 200) {
            const names = findMentions(JSON.stringify(input), hidden)
            // Without a visible endpoint the bulk read of rooms is a 400, as for an empty organisation.
            const isRefused = part.status === 403 || whole.status !== 200 || id === 'roomsBulkSensorData'
            expect(names.length > 0 || isRefused, `${what}: ${part.text}`).toBe(true)
          } else expectPart(part, whole, places, id === 'auditLogs' ? neverSeen : hidden, what)
        }
      }
      await expectCompleteLists(places, caller)
      if (kind === 'admin' || kind === 'key') await expectAuditLog(places, caller, neverSeen)
    }),
    { numRuns: organisations, endOnFailure: true },
  )
})

/** A caller who is told nothing at all would pass the comparison, so the lists must have everything that is visible. */
async function expectCompleteLists(places: GeneratedPlaces, caller: Credentials): Promise<void> {
  const idsIn = async (id: ReadId, key: string, idKey = 'id'): Promise<string[]> =>
    (await send(places, id, {}, caller)).body[key].map((item: Record<string, unknown>) => String(item[idKey])).sort()
  const visible = (things: readonly Thing[]) =>
    things
      .filter((thing) => isVisible(places, thing))
      .map(({ id }) => String(id))
      .sort()
  expect(await idsIn('regionsList', 'regions')).toEqual(visible(places.regions))
  expect(await idsIn('locationsList', 'locations')).toEqual(visible(places.locations))
  expect(await idsIn('roomsList', 'rooms')).toEqual(visible(places.rooms))
  expect(await idsIn('endpointsBasicList', 'endpoints')).toEqual(visible(places.endpoints))
  expect(await idsIn('roomNotesListAll', 'notes')).toEqual(visible(places.notes))
  // An item is visible if its room and its gateway are.
  for (const gateway of places.endpoints.filter((endpoint) => isVisible(places, endpoint))) {
    const { body } = await send(places, 'gatewayDevicesList', { id: gateway.id }, caller)
    const own = places.items.filter(({ id }) => id === gateway.gatewayDevice)
    expect(body.devices.map(({ id }: { id: string }) => id)).toEqual(visible(own))
  }
  const { body: reach } = await send(places, 'profilesReach', { id: places.profile }, caller)
  expect(reach.roomCount).toBe(visible(places.rooms).length)
  expect(reach.endpointCount).toBe(visible(places.endpoints).length)
  const seen = places.endpoints.filter((endpoint) => isVisible(places, endpoint))
  expect(await idsIn('incidentsList', 'incidents')).toEqual(seen.map(({ incident }) => incident).sort())
  const { body: mixed } = await send(places, 'incidentsGet', { id: places.mixedIncident }, caller)
  expect(mixed).toMatchObject({ subjectCount: seen.length, openSubjectCount: 0 })
  expect(mixed.subjects.map(shownId).sort()).toEqual(visible(places.endpoints))
  // A unit of a job is visible if all of its rooms are.
  const units = places.jobUnits.filter((rooms) => rooms.every((room) => isVisible(places, room)))
  const { body: shown } = await send(places, 'jobsRoomsList', { id: places.job }, caller)
  const shownRooms = shown.rooms.map(({ roomIds }: { roomIds: number[] }) => roomIds.sort().join())
  expect(shownRooms.sort()).toEqual(units.map((rooms) => rooms.map(number).sort().join()).sort())
  const endpointCount = places.endpoints.filter(({ parents }) => units.flat().includes(parents[0] as Thing)).length
  const counts = { unitCount: units.length, endpointCount, counts: { PENDING: units.length } }
  const { body: job } = await send(places, 'jobsGet', { id: places.job }, caller)
  expect(job).toMatchObject({
    ...counts,
    stageCounts: [{ unitCount: units.length, counts: { PENDING: units.length } }],
  })
  expect((await send(places, 'jobsList', {}, caller)).body.jobs).toMatchObject([counts])
  const users = await idsIn('usersList', 'users')
  expect(users.filter((id) => places.users.some((user) => String(user.id) === id))).toEqual(visible(places.users))
}

interface LogEntry {
  readonly id: string
  readonly target?: { readonly id: string }
  readonly details: object
}

async function readPages(places: GeneratedPlaces, caller: Credentials): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for (let pageToken = ''; ; ) {
    const { body } = await send(places, 'auditLogs', { from: 0, to: Date.UTC(2100, 0), pageSize: 5, pageToken }, caller)
    expect(body.logs.length).toBeLessThanOrEqual(5)
    entries.push(...body.logs)
    pageToken = body.nextPageToken
    if (pageToken === '') return entries
  }
}

async function expectAuditLog(places: GeneratedPlaces, caller: Credentials, neverSeen: readonly Thing[]) {
  const window = { from: 0, to: Date.UTC(2100, 0), pageSize: 1000 }
  const whole: LogEntry[] = (await send(places, 'auditLogs', window, { key: places.key })).body.logs
  const inOne: LogEntry[] = (await send(places, 'auditLogs', window, caller)).body.logs
  expect(await readPages(places, caller), 'pages have what one long page has').toEqual(inOne)
  // A thing that was always visible is in the log with all of its details.
  const always = everythingIn(places).filter((t) => isVisible(places, t) && !t.hasMoved && t.kind !== 'user')
  for (const { id, kind } of always.filter(({ kind }) => kind !== 'endpoint')) {
    const created = whole.findLast(({ target }) => target?.id === String(id))
    expect(created, `${kind} ${id}`).toBeDefined()
    expect(
      inOne.find((entry) => entry.id === created?.id),
      `${kind} ${id}`,
    ).toEqual(created)
  }
  const csv = (await send(places, 'auditLogs', window, caller, 'text/csv')).text
  expect(findMentions(csv, neverSeen)).toEqual([])
  const numbersIn = (text: string) =>
    text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.split(',')[0])
  // The export itself is an entry without a place.
  expect(numbersIn(csv)).toEqual(inOne.map(({ id }) => id))
}

// In the short form a person and a key: events are chosen by what a caller sees, not by the role.
test.each(isFullForm ? callerKinds : (['viewer', 'key'] as const))(
  'events for a restricted %s are parts of those for an owner, and none is missing [contract 11.access]',
  (kind) =>
    fc.assert(
      fc.asyncProperty(plans, (plan) => followChanges(plan, kind)),
      { numRuns: 1, endOnFailure: true },
    ),
)

async function followChanges(plan: PlacePlan, kind: (typeof callerKinds)[number]): Promise<void> {
  const places = await buildPlaces(harness, plan)
  const { key } = await newRestrictedCaller(places, kind)
  const client = makeClient({ baseUrl: harness.url, org: places.id, token: key || '' })
  const [whole, part] = [await follow(places.client), await follow(client)]
  const things = everythingIn(places)
  const hidden = things.filter((thing) => !isVisible(places, thing))
  for (const [i, endpoint] of places.endpoints.entries()) await sendSample(harness, endpoint, i + 1)
  for (const { kind: noun, id, marks, parents } of [...places.regions, ...places.locations, ...places.rooms]) {
    // A room whose locationId is absent would be in no location any more.
    const body = { name: `${marks[0]} renamed`, ...(noun === 'room' && { locationId: parents[0]?.id ?? null }) }
    await places.call('PUT', `/${noun}s/${id}`, { body })
  }
  const endpointIds = places.endpoints.map(({ id }) => id)
  for (const id of endpointIds) await places.call('POST', `/endpoints/${id}/config`, { body: { nightMode: true } })
  await places.call('POST', '/endpoints/send_message', { body: { message: 'Hello.', endpointIds } })
  await places.call('POST', '/users', { body: { email: `late-${kind}@example.org`, role: 'viewer', regionIds: [] } })
  const [anchor] = places.rooms
  const { body: last } = await places.call('POST', `/rooms/${anchor?.id}/notes`, {
    body: { note: 'The last change.' },
  })
  const isLast = ({ change }: Event) => change?.target?.id === last.id
  for (const follower of [whole, part]) await until('the last change', () => follower.events.some(isLast))

  const byId = new Map(whole.received.map(({ id, event }) => [id, event]))
  for (const { id, event } of part.received) {
    expect(findMentions(JSON.stringify(event), hidden), JSON.stringify(event)).toEqual([])
    expect(findExcess(event, byId.get(id)), JSON.stringify([event, byId.get(id)])).toBeUndefined()
  }
  const visibleRooms = places.rooms.filter((room) => isVisible(places, room)).map(number)
  const expected = whole.received.filter(({ event }) => event.roomIds.some((id) => visibleRooms.includes(id)))
  expect(expected.length).toBeGreaterThan(0)
  const got = new Set(part.received.map(({ id }) => id))
  expect(expected.filter(({ id }) => !got.has(id))).toEqual([])
}
