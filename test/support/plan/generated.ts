// Generates documents, and changes to them as people make them: renames, moves, copies, new things, things that are left out.
import fc from 'fast-check'
import type { OrganisationDocument } from '../../../src/plan/document.ts'
import type { Snapshot } from '../../../src/plan/things.ts'

export type Gen = <T>(make: () => fc.Arbitrary<T>) => T

/** Few names, so many are equal; some are equal only to the eye, and some have characters with a meaning elsewhere. */
const names = [
  'Fjord',
  'Bay',
  'Größe',
  'Cafe\u0301',
  'Café',
  '東京',
  '🏢 HQ',
  'a/b',
  'x: y',
  '# no',
  'null',
  '7',
  'Ω "q"',
  'مكتب',
]
const name = () => fc.constantFrom(...names)
const chance = (g: Gen, percent: number) => g(() => fc.integer({ min: 0, max: 99 })) < percent
const many = <T>(g: Gen, max: number, make: () => T): T[] => Array.from({ length: g(() => fc.nat({ max })) }, make)

type Mutable<T> = T extends readonly (infer I)[]
  ? Mutable<I>[]
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T
export type Draft = Mutable<OrganisationDocument>
type Room = NonNullable<Draft['rooms']>[number]
type Location = NonNullable<Draft['locations']>[number]

/** A document of things without ids, whose paths are all different. It has devices of the gateway with the serial number. */
export function generatedDocument(g: Gen, organisation: string, gateway?: string): Draft {
  const profiles = unique(
    many(g, 3, () => ({ name: g(name), config: { nightMode: g(fc.boolean) } })),
    ({ name }) => name,
  )
  const document: Draft = {
    organisation,
    regions: unique(
      many(g, 3, () => ({ name: g(name), locations: generatedLocations(g, profiles) })),
      ({ name }) => name,
    ),
    locations: generatedLocations(g, profiles),
    rooms: generatedRooms(g, profiles),
    profiles,
  }
  const [region] = document.regions ?? []
  document.users = unique(
    many(g, 2, () => ({
      email: g(() => fc.constantFrom('ada@example.org', 'Bo@example.org', 'zoë@example.org')),
      role: g(() => fc.constantFrom('admin' as const, 'viewer' as const)),
      regions: region && chance(g, 50) ? [region.name] : [],
    })),
    ({ email }) => email,
  )
  document.channels = unique(
    many(g, 2, () => ({
      name: g(name),
      kind: 'webhook' as const,
      url: { env: 'HOOK' },
      regions: region && chance(g, 50) ? [region.name] : [],
    })),
    ({ name }) => name,
  )
  document.silences = unique(
    many(g, 2, () => ({
      place: region && chance(g, 50) ? { region: region.name } : { all: true as const },
      reason: g(name),
      weekly: { days: ['mon' as const], from: '20:00', to: g(() => fc.constantFrom('05:00', '06:00')) },
    })),
    (silence) => JSON.stringify(silence),
  )
  if (chance(g, 50)) document.incidentRules = generatedRules(g)
  if (gateway !== undefined) document.gatewayDevices = generatedGatewayDevices(g, gateway, document)
  return document
}

const generatedRules = (g: Gen): NonNullable<Draft['incidentRules']> => ({
  'storage.low': {
    severity: g(() => fc.constantFrom('INFO' as const, 'CRITICAL' as const, null)),
    ...(chance(g, 50) && { holdMinutes: g(() => fc.integer({ min: 0, max: 5 })) }),
    ...(chance(g, 50) && { limits: { opensBelowPercent: g(() => fc.integer({ min: 5, max: 10 })) } }),
  },
  ...(chance(g, 50) && { 'device.offline': { enabled: g(fc.boolean), clearMinutes: null } }),
})

const generatedGatewayDevices = (g: Gen, gateway: string, document: Draft): NonNullable<Draft['gatewayDevices']> => {
  const [room] = document.rooms ?? []
  if (!room) return []
  const devices = many(g, 2, () => ({
    gateway,
    driver: 'pjlink' as const,
    host: g(() => fc.constantFrom('10.20.0.1', '10.20.0.2')),
    ...(chance(g, 50) && { name: g(name) }),
    secret: { env: 'PROJECTOR_PASSWORD' },
    room: room.name,
  }))
  return unique(devices, ({ host }) => host)
}

/** Endpoints exist already, and an export does not have them. */
const generatedEndpoint = (g: Gen, serial: string): NonNullable<Draft['endpoints']>[number] => ({
  serial,
  ...(chance(g, 50) && { name: g(() => fc.option(name())) }),
  ...(chance(g, 30) && { installedOn: g(() => fc.constantFrom('2026-05-31', null)) }),
  ...(chance(g, 30) && { fields: { env: g(() => fc.constantFrom('prod', null)), kind: g(name) } }),
})

const generatedLocations = (g: Gen, profiles: readonly { name: string }[]): Location[] =>
  unique(
    many(g, 3, () => ({
      name: g(name),
      ...(chance(g, 30) && { timezone: 'Europe/Oslo' }),
      ...(chance(g, 30) && { address: 'Storgata 1\n0155 Oslo' }),
      rooms: generatedRooms(g, profiles),
    })),
    ({ name }) => name,
  )

const generatedRooms = (g: Gen, profiles: readonly { name: string }[]): Room[] =>
  unique(
    many(g, 4, () => ({ ...generatedRoom(g), ...(profiles[0] && chance(g, 40) && { profile: profiles[0].name }) })),
    ({ name }) => name,
  )

const generatedRoom = (g: Gen): Room => ({
  name: g(name),
  ...(chance(g, 50) && { capacity: g(() => fc.integer({ min: 1, max: 10 })) }),
  ...(chance(g, 30) && { tags: g(() => fc.constantFrom(['a'], ['a', 'b'])) }),
  // Names that are also words of a document.
  ...(chance(g, 30) && { fields: { env: 'prod', kind: g(name), id: '7' } }),
})

const unique = <T>(items: readonly T[], keyOf: (item: T) => string): T[] => [
  ...new Map(items.map((item) => [keyOf(item), item])).values(),
]

/** The id of a deleted thing. An organisation gives no id twice, and none of these tests gives so many. */
const deletedIdNumber = 900

/** Changes an export as people do. Some of the results are mistakes. */
export function edited(g: Gen, exported: OrganisationDocument, snapshot: Snapshot): Draft {
  const document = structuredClone(exported) as Draft
  const locationLists = () => [document.locations ?? [], ...(document.regions ?? []).map((r) => r.locations ?? [])]
  const locations = () => locationLists().flat()
  const roomLists = () => [document.rooms ?? [], ...locations().map((l) => l.rooms ?? [])]
  const oneOf = <T>(items: readonly T[]): T | undefined =>
    items.length === 0 ? undefined : items[g(() => fc.nat({ max: items.length - 1 }))]
  const sites = () => [...(document.regions ?? []), ...locations(), ...roomLists().flat()]
  const move = <T>(lists: readonly T[][]) => {
    const [from, to] = [oneOf(lists.filter((list) => list.length > 0)), oneOf(lists)]
    const item = from && oneOf(from)
    if (!from || !to || !item) return
    from.splice(from.indexOf(item), 1)
    to.push(item)
  }
  const remove = (lists: readonly unknown[][]) => {
    const list = oneOf(lists.filter((l) => l.length > 0))
    list?.splice(list.indexOf(oneOf(list)), 1)
  }
  const edits: (() => void)[] = [
    () => Object.assign(oneOf(sites()) ?? {}, { name: g(name) }),
    () => Object.assign(oneOf([...(document.profiles ?? []), ...(document.channels ?? [])]) ?? {}, { name: g(name) }),
    () => move(roomLists()),
    () => move(locationLists()),
    () => remove(roomLists()),
    () => remove(locationLists()),
    () =>
      remove(
        [
          ...[document.regions, document.profiles, document.users],
          ...[document.silences, document.channels, document.gatewayDevices],
        ].map((l) => l ?? []),
      ),
    () => oneOf(roomLists())?.push(generatedRoom(g)),
    () => oneOf(locationLists())?.push({ name: g(name), rooms: [generatedRoom(g)] }),
    () => document.regions?.push({ name: g(name), locations: [{ name: g(name) }] }),
    () => Object.assign(oneOf(roomLists().flat()) ?? {}, generatedRoom(g)),
    () => Object.assign(oneOf(roomLists().flat()) ?? {}, { capacity: null, fields: { env: null, other: 'new' } }),
    () => Object.assign(oneOf(roomLists().flat()) ?? {}, { profile: oneOf(document.profiles ?? [])?.name ?? null }),
    () => Object.assign(oneOf(sites()) ?? {}, { externalId: g(() => fc.constantFrom('A', 'B', 'C', null)) }),
    () => Object.assign(oneOf(locations()) ?? {}, { timezone: null, contact: g(name) }),
    () => Object.assign(oneOf(document.profiles ?? [])?.config ?? {}, { nightMode: null, brightness: 0.5 }),
    () => Object.assign(oneOf(document.silences ?? []) ?? {}, { reason: g(name) }),
    () => Object.assign(oneOf(document.users ?? []) ?? {}, { role: 'operator', allRegions: true, disabled: true }),
    () => Object.assign(document, { incidentRules: { ...document.incidentRules, ...generatedRules(g) } }),
    () => Object.assign(oneOf(document.gatewayDevices ?? []) ?? {}, { name: g(name) }),
    () => Object.assign(oneOf(document.gatewayDevices ?? []) ?? {}, { host: '10.20.0.3' }),
    () => Object.assign(oneOf(document.gatewayDevices ?? []) ?? {}, { room: oneOf(document.rooms ?? [])?.name }),
    () => Object.assign(oneOf(document.channels ?? []) ?? {}, { minSeverity: 'CRITICAL', enabled: false }),
    () => {
      const site = oneOf(sites())
      if (site) delete site.id
    },
    () =>
      delete document[
        oneOf([
          ...(['regions', 'locations', 'rooms', 'profiles', 'users', 'silences', 'channels'] as const),
          ...(['incidentRules', 'gatewayDevices'] as const),
        ]) ?? 'rooms'
      ],
    () => delete (oneOf(locations()) ?? { rooms: [] }).rooms,
    // Mistakes: a copy with its id, a profile that does not exist, an id of something else.
    () => {
      const list = oneOf(roomLists())
      const room = oneOf(list ?? [])
      if (room) list?.push(structuredClone(room))
    },
    () => Object.assign(oneOf(roomLists().flat()) ?? {}, { profile: 'missing' }),
    () => {
      const list = oneOf([document.regions ?? [], locations(), roomLists().flat()].filter(({ length }) => length > 0))
      Object.assign(oneOf(list ?? []) ?? {}, {
        id: oneOf([...(list ?? []).flatMap(({ id }) => id ?? []), deletedIdNumber]),
      })
    },
    () => Object.assign(document, { organisation: chance(g, 50) ? 'other' : snapshot.organisation }),
  ]
  const endpoints = snapshot.things.filter(({ kind }) => kind === 'endpoint' && chance(g, 50))
  if (endpoints.length > 0)
    document.endpoints = endpoints.map(({ values }) => generatedEndpoint(g, String(values.serial)))
  const count = g(() => fc.nat({ max: 8 }))
  for (let i = 0; i < count; i++) oneOf(edits)?.()
  return document
}
