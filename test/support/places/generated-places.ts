// Builds a generated organisation, and knows of everything in it which regions it has been in.
import fc from 'fast-check'
import { SampleIntake } from '../../../src/server/sensors/ingest/intake.ts'
import { LatestSampleCache } from '../../../src/server/sensors/latest/cache.ts'
import { Horizon } from '../../../src/server/sensors/rollups/horizon.ts'
import { storedConnection } from '../devices/stored-connection.ts'
import { newEndpoint, newGatewayDevice } from '../fixture.ts'
import type { Harness, TestOrg } from '../harness.ts'
import { newIncident } from '../incidents.ts'
import { weekdayIn } from '../jobs.ts'
import { setFirstIds } from './first-ids.ts'

/** Numbers choose from what exists, modulo its count. `null` is no place. */
const choice = fc.nat(20)
const placeOrNone = fc.option(choice, { freq: 4, nil: null })

/** Three rooms always exist: two in the first region and one in the second. A pair spans the second and the third room. */
export const plans = fc.record({
  regions: fc.integer({ min: 1, max: 3 }),
  locations: fc.array(placeOrNone, { minLength: 1, maxLength: 4 }),
  rooms: fc.array(placeOrNone, { minLength: 1, maxLength: 5 }),
  endpoints: fc.array(choice, { minLength: 1, maxLength: 3 }),
  notes: fc.array(choice, { minLength: 1, maxLength: 4 }),
  users: fc.array(fc.record({ allRegions: fc.boolean(), regions: fc.array(choice, { maxLength: 2 }) }), {
    maxLength: 3,
  }),
  moves: fc.array(fc.record({ what: fc.constantFrom('location', 'room', 'endpoint'), which: choice, to: choice }), {
    maxLength: 4,
  }),
  /** The regions that the restricted caller sees beside the first one. */
  seen: fc.array(choice, { maxLength: 2 }),
})
export type PlacePlan = typeof plans extends fc.Arbitrary<infer P> ? P : never

/** Anything with an id that a caller may see or not. */
export interface Thing {
  readonly kind: 'region' | 'location' | 'room' | 'endpoint' | 'item' | 'note' | 'user'
  readonly id: number | string
  /** Texts that only answers about this thing contain: its name, serial number and what was sent to it. */
  readonly marks: readonly string[]
  /** The things that it is in directly; none for a region. */
  parents: readonly Thing[]
  /** The regions that it was in before it moved. */
  readonly past: Set<Thing>
  /** True if it, or what it is in, was moved. */
  hasMoved: boolean
}

export const regionsOf = (thing: Thing): Thing[] =>
  thing.kind === 'region' ? [thing] : thing.parents.flatMap(regionsOf)

export interface GeneratedEndpoint extends Thing {
  readonly id: string
  readonly operation: string
  readonly supportId: string
  readonly credential: string
  /** An item of the endpoint, which is a gateway too. The item stays in the room where the endpoint was at first. */
  readonly gatewayDevice: string
  /** About the endpoint, where it is after all moves. */
  incident: string
  marks: readonly string[]
}

export interface GeneratedPlaces extends TestOrg {
  readonly regions: readonly Thing[]
  readonly locations: readonly Thing[]
  readonly rooms: readonly Thing[]
  readonly endpoints: readonly GeneratedEndpoint[]
  /** The items of the endpoints. */
  readonly items: readonly Thing[]
  readonly notes: readonly Thing[]
  readonly users: readonly Thing[]
  /** The profile of all rooms. */
  readonly profile: number
  /** A bug report of all endpoints. */
  readonly mixedSupportId: string
  /** A draft about all endpoints. */
  readonly job: string
  /** Targets what the job does. */
  readonly recurringJob: string
  /** Has ended, and was about all endpoints. */
  readonly mixedIncident: string
  /** The rooms of each unit that the job has: one for each room with endpoints, and one for the two rooms of the pair. */
  readonly jobUnits: readonly (readonly Thing[])[]
  /** The regions that the restricted caller sees. */
  readonly seenRegions: readonly Thing[]
}

export const everythingIn = (places: GeneratedPlaces): readonly Thing[] =>
  [places.regions, places.locations, places.rooms, places.endpoints, places.items, places.notes, places.users].flat()

export async function buildPlaces(harness: Harness, plan: PlacePlan): Promise<GeneratedPlaces> {
  const org = await harness.newOrg()
  await setFirstIds(harness, org)
  const make = async (path: string, body: unknown) => {
    const reply = await org.call('POST', path, { body })
    if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`)
    return reply.body
  }
  let count = 0
  const mark = (kind: string) => `qz-${kind}-${++count}-zq`
  const add = async (
    kind: Thing['kind'],
    parents: readonly Thing[],
    create: (name: string) => Promise<{ id: unknown }>,
  ) => {
    const name = mark(kind)
    const { id } = await create(name)
    return { kind, id: id as number, marks: [name], parents, past: new Set<Thing>(), hasMoved: false }
  }
  const at = <T>(things: readonly T[], index: number): T => things[index % things.length] as T
  const within = (things: readonly Thing[], index: number | null) => (index === null ? [] : [at(things, index)])

  const regions: Thing[] = []
  for (let i = 0; i <= plan.regions; i++) {
    regions.push(await add('region', [], (name) => make('/regions', { name })))
  }
  const locations: Thing[] = []
  for (const index of [0, 1, ...plan.locations]) {
    const parents = within(regions, index)
    const regionId = parents[0]?.id ?? null
    locations.push(await add('location', parents, (name) => make('/locations', { name, regionId })))
  }
  const rooms: Thing[] = []
  for (const index of [0, 0, 1, ...plan.rooms]) {
    const parents = within(locations, index)
    const locationId = parents[0]?.id ?? null
    rooms.push(await add('room', parents, (name) => make('/rooms', { name, locationId })))
  }
  const notes: Thing[] = []
  for (const index of plan.notes) {
    const room = at(rooms, index)
    notes.push(await add('note', [room], (note) => make(`/rooms/${room.id}/notes`, { note })))
  }
  const endpoints: GeneratedEndpoint[] = []
  const items: Thing[] = []
  for (const index of [0, 1, 2, ...plan.endpoints]) {
    const room = at(rooms, index)
    const { endpoint: id, serial, ...rest } = await newEndpoint(harness, org, Number(room.id), { sampleCount: 2 })
    const marks = [serial, rest.operation, rest.supportId, mark('message'), mark('config')]
    await make('/endpoints/send_message', { endpointIds: [id], message: marks[3] })
    await make(`/endpoints/${id}/config`, { ntpServer: marks[4] })
    const gatewayDevice = await newGatewayDevice(org, id, Number(room.id))
    items.push({ kind: 'item', id: gatewayDevice, marks: [], parents: [room], past: new Set(), hasMoved: false })
    endpoints.push({
      kind: 'endpoint',
      id,
      gatewayDevice,
      ...rest,
      incident: '',
      marks,
      parents: [room],
      past: new Set(),
      hasMoved: false,
    })
  }
  const profile = (await make('/profiles', { name: 'Quiet', config: { nightMode: true } })).profile.id
  for (const { id } of rooms) await org.call('PUT', `/rooms/${id}/profile`, { body: { profileId: profile } })
  const users: Thing[] = []
  for (const { allRegions, regions: indexes } of plan.users) {
    const own = [...new Set(indexes.map((index) => at(regions, index)))]
    const body = { role: 'operator', allRegions, regionIds: own.map(({ id }) => id) }
    const create = (name: string) => make('/users', { email: `${name}@example.org`, ...body })
    users.push(await add('user', allRegions ? regions : own, create))
  }
  const { supportId: mixedSupportId } = await make(
    '/endpoints/generate_bug_report',
    endpoints.map(({ id }) => id),
  )
  await make('/rooms/send_message', { roomIds: rooms.map(({ id }) => id), message: 'To all rooms.' })

  const settle = (thing: Thing, parent: Thing) => {
    const inside = [...locations, ...rooms, ...endpoints, ...items, ...notes].filter(
      (t) => t === thing || isIn(t, thing),
    )
    for (const moved of inside) {
      moved.hasMoved = true
      for (const region of regionsOf(moved)) moved.past.add(region)
    }
    thing.parents = [parent]
  }
  for (const { what, which, to } of plan.moves) {
    // The first of each kind stays where it is, so that the caller sees something, and the pair stays in its rooms.
    const all: readonly Thing[] = { location: locations, room: rooms, endpoint: endpoints }[what as 'location']
    const movable = all.slice(what === 'endpoint' ? 3 : 1)
    if (movable.length === 0) continue
    const thing = at(movable, which)
    const target = at({ location: regions, room: locations, endpoint: rooms }[what as 'location'], to)
    if (what === 'endpoint') await make('/endpoints/move_paired', { endpointIds: [thing.id], roomId: target.id })
    else {
      const body = { name: thing.marks[0], [what === 'room' ? 'locationId' : 'regionId']: target.id }
      await org.call('PUT', `/${what}s/${thing.id}`, { body })
    }
    settle(thing, target)
  }
  const [, leader, paired] = endpoints as [GeneratedEndpoint, GeneratedEndpoint, GeneratedEndpoint]
  await pair(harness, leader, paired)
  for (const endpoint of endpoints) {
    const assigneeId = users.length > 0 ? Number(at(users, count).id) : undefined
    const assigned = { endpoints: [endpoint.id], ...(assigneeId !== undefined && { assigneeId }) }
    endpoint.incident = await newIncident(harness, org, assigned)
    endpoint.marks = [...endpoint.marks, endpoint.incident]
  }
  const mixedIncident = await newIncident(harness, org, {
    endpoints: endpoints.map(({ id }) => id),
    level: 'ORGANISATION',
    causeId: org.id,
    causeName: 'Test organisation',
    // The engine would end an open one, because the findings belong to the other incidents.
    state: 'RESOLVED',
  })
  const to = new Date(harness.clock.now() + 7_200_000).toISOString()
  for (const { kind, id, marks } of [...regions, ...locations, ...rooms, ...endpoints]) {
    await make('/silences', { place: { [`${kind}Id`]: id }, reason: `Silence of ${marks[0]}`, to })
  }
  const target = { endpointIds: endpoints.map(({ id }) => id), exclude: { roomIds: [1], models: ['none'] } }
  const action = { type: 'MESSAGE', message: 'To all rooms.' }
  const job = (await make('/jobs', { name: 'All rooms', target, action })).id
  const schedule = { days: [weekdayIn(harness, 4)], at: '03:00' }
  const recurringJob = (await make('/recurring_jobs', { name: 'Every week', target, action, schedule })).id
  const roomOf = ({ parents }: Thing) => parents[0] as Thing
  const pairedRooms = [...new Set([leader, paired].map(roomOf))]
  const jobUnits = [
    pairedRooms,
    ...[...new Set(endpoints.map(roomOf))].filter((room) => !pairedRooms.includes(room)).map((room) => [room]),
  ]
  const seenRegions = [...new Set([at(regions, 0), ...plan.seen.map((index) => at(regions, index))])]
  return {
    ...org,
    regions,
    locations,
    rooms,
    endpoints,
    items,
    notes,
    users,
    profile,
    mixedSupportId,
    job,
    recurringJob,
    mixedIncident,
    jobUnits,
    seenRegions,
  }
}

/** Stores what the devices of a pair would report. This comes after all moves, which would move the whole group. */
async function pair(
  { services: { db } }: Harness,
  leader: GeneratedEndpoint,
  paired: GeneratedEndpoint,
): Promise<void> {
  const status = JSON.stringify({ pairedSerials: [paired.marks[0]] })
  await db.systemTransaction(async ({ kysely }) => {
    await kysely.updateTable('endpoints').set({ status }).where('id', '=', leader.id).execute()
    await kysely
      .updateTable('endpoints')
      .set({ pairing_serial: leader.marks[0] ?? null })
      .where('id', '=', paired.id)
      .execute()
  })
  db.invalidateAll()
}

const isIn = (thing: Thing, other: Thing): boolean =>
  thing.parents.some((parent) => parent === other || isIn(parent, other))

/** Stores a sample of an endpoint as if its device had sent it. */
export async function sendSample({ services }: Harness, { id, credential }: GeneratedEndpoint, later: number) {
  const intake = new SampleIntake(services, new LatestSampleCache(services), new Horizon())
  // A second sample with the timestamp of another one would be ignored.
  const sample = { timestamp: Math.floor(services.clock.now() / 1000) + later, people: later }
  await intake.receive(await storedConnection(services, id, credential), { samples: [sample] })
}
