// An organisation with two regions and two locations, and a reader of its places and its audit log.
import type { Harness, TestOrg } from '../harness.ts'

/** Creates Europe (1) and Asia (2), Oslo (1) in Europe, and Nowhere (2) without a region. */
export async function newAtlas(harness: Harness): Promise<TestOrg> {
  const org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  await org.call('POST', '/regions', { body: { name: 'Asia' } })
  await org.call('POST', '/locations', { body: { name: 'Oslo', regionId: 1 } })
  await org.call('POST', '/locations', { body: { name: 'Nowhere' } })
  return org
}

/** Reads everything that a refused write must not change. */
export const readState = async ({ call, audit }: TestOrg) => [
  (await call('GET', '/locations')).body,
  (await call('GET', '/regions')).body,
  (await call('GET', '/rooms')).body,
  await audit(),
]
