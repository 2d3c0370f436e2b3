// An organisation with rooms in several places, and readers of a room, its version, its neighbours and its enrolment code.
import { expect } from 'vitest'
import { enrolmentCodeMac } from '../../../src/server/fleet/rooms/enrolment-code.ts'
import type { Harness, TestOrg } from '../harness.ts'

/** Creates Oslo (1) in Europe (1), Tokyo (2) in Asia (2), Nowhere (3); rooms Fjord (1), Fuji (2), Attic (3), Cellar (4). */
export async function newBuilding(harness: Harness): Promise<TestOrg> {
  const org = await harness.newOrg()
  const post = (path: string, body: object) => org.call('POST', path, { body })
  for (const name of ['Europe', 'Asia']) await post('/regions', { name })
  const places = { Oslo: 1, Tokyo: 2, Nowhere: 0 }
  for (const [name, regionId] of Object.entries(places)) await post('/locations', { name, regionId })
  const rooms = { Fjord: 1, Fuji: 2, Attic: 3, Cellar: 0 }
  for (const [name, locationId] of Object.entries(rooms)) await post('/rooms', { name, locationId })
  return org
}
export const room = async ({ call }: TestOrg, id: number) => (await call('GET', `/rooms/${id}`)).body
export const etag = async ({ call }: TestOrg, id: number) => (await call('GET', `/rooms/${id}`)).headers.get('etag')
/** All rooms but the first, with their versions. */
export const others = (org: TestOrg) =>
  Promise.all([2, 3, 4].map(async (id) => [await room(org, id), await etag(org, id)]))

/** How an enrolment code is written. */
export const writtenCode = expect.stringMatching(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/)
/** The value of decUsed until the code is used. */
export const neverUsed = '-62135596800'

/** Finds the room that a code enrols into. */
export async function roomOfCode({ services }: Harness, text: string) {
  const codes = services.db.system.kysely.selectFrom('dec_directory').selectAll()
  return (await codes.where('mac', '=', enrolmentCodeMac(services.secrets, text)).executeTakeFirst())?.room_id
}
