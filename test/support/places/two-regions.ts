// An organisation with two regions, things in no region, and an admin who sees only the first region.
import { expect } from 'vitest'
import { putEndpoints } from '../database/endpoint-rows.ts'
import type { Call, Harness, Reply, TestOrg } from '../harness.ts'
import { newPerson, type TestPerson } from '../person.ts'

interface Site {
  readonly location: number
  readonly room: number
  readonly note: string
  /** Connected as far as the database knows. */
  readonly endpoint: string
}

export interface RegionSite extends Site {
  readonly region: number
}

export interface TwoRegions {
  readonly org: TestOrg
  /** The admin sees this region. */
  readonly mine: RegionSite
  readonly other: RegionSite
  /** In no region: a location without one. */
  readonly nowhere: Site
  readonly admin: TestPerson
  /** Makes a call as the admin. */
  call(method: string, path: string, call?: Call): Promise<Reply>
}

export async function newTwoRegions(harness: Harness): Promise<TwoRegions> {
  const org = await harness.newOrg()
  const make = async (path: string, body: unknown) => (await org.call('POST', path, { body })).body
  const site = async (name: string, regionId?: number): Promise<Site> => {
    const location = (await make('/locations', { name: `${name} site`, regionId: regionId ?? null })).id
    const room = (await make('/rooms', { name: `${name} room`, locationId: location })).id
    const note = (await make(`/rooms/${room}/notes`, { note: `${name} note` })).id
    // Devices that a test enrols get the numbers from 1.
    const number = 1000 + room
    const values = { room_id: room, connected: 1, serial: `${name}-BAR`, number }
    const [endpoint] = await putEndpoints(harness, org, [values])
    return { location, room, note, endpoint: endpoint?.id ?? '' }
  }
  const regionSite = async (name: string): Promise<RegionSite> => {
    const region = (await make('/regions', { name })).id
    return { region, ...(await site(name, region)) }
  }
  const [mine, other, nowhere] = [await regionSite('MINE'), await regionSite('OTHER'), await site('NOWHERE')]
  const admin = await newPerson(harness, org, { role: 'admin', regionIds: [mine.region] })
  return {
    org,
    mine,
    other,
    nowhere,
    admin,
    call: (method, path, call = {}) => org.call(method, path, { key: admin.key, ...call }),
  }
}

/** The things of the organisation that the admin does not see. */
export const hiddenSites = ({ other, nowhere }: TwoRegions): readonly Site[] => [other, nowhere]

/** Headers that differ between any two answers. */
const changingHeaders = ['date', 'keep-alive']

/**
 * Makes a call of the admin with a hidden id and with one that does not exist: both must be refused, or answered, with the same bytes
 * and headers, apart from the id itself. The ids must have the same length. Returns the answer.
 */
export async function expectSameAsUnknown<I extends string | number>(
  { call }: TwoRegions,
  [hidden, unknown]: readonly [hidden: I, unknown: I],
  request: (id: I) => readonly [method: string, path: string, body?: unknown],
): Promise<Reply> {
  const answerFor = async (id: I) => {
    const [method, path, body] = request(id)
    const reply = await call(method, path, { headers: { 'x-request-id': 'same' }, ...(body !== undefined && { body }) })
    const headers = [...reply.headers].filter(([name]) => !changingHeaders.includes(name))
    return {
      reply,
      seen: { status: reply.status, headers, text: reply.text.replaceAll(String(hidden), String(unknown)) },
    }
  }
  const [first, second] = [await answerFor(hidden), await answerFor(unknown)]
  expect(first.seen, request(hidden).slice(0, 2).join(' ')).toEqual(second.seen)
  return first.reply
}

/** Runs the work, and expects that it wrote no audit entry, which every change does. */
export async function expectNothingChanged({ org }: TwoRegions, work: () => Promise<unknown>): Promise<void> {
  const before = await org.audit()
  await work()
  expect(await org.audit()).toEqual(before)
}
