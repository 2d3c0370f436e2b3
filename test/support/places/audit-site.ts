// Two regions with places in them, and what a caller who is limited to regions reads in the audit log about them.
import type { Harness, Reply, TestOrg } from '../harness.ts'
import { newPerson } from '../person.ts'

/** North (1) with Oslo (1) and the room Fjord (1), South (2) with Rome (2) and the room Forum (2), and the room Cellar (3). */
export async function auditSite(harness: Harness) {
  const org = await harness.newOrg()
  const post = async (path: string, body: object) => (await org.call('POST', path, { body })).body
  for (const name of ['North', 'South']) await post('/regions', { name })
  for (const [name, regionId] of Object.entries({ Oslo: 1, Rome: 2 })) await post('/locations', { name, regionId })
  for (const [name, locationId] of Object.entries({ Fjord: 1, Forum: 2, Cellar: 0 }))
    await post('/rooms', { name, locationId })
  return { org, post }
}

/** The path of all entries of all times. */
export const wholeAuditLog = '/audit/logs?from=1970-01-01T00:00:00Z&to=9999-01-01T00:00:00Z'

/** The log as the caller with the key reads it. */
export const readAuditLog = async (org: TestOrg, key: string, more = '&pageSize=1000'): Promise<Reply> =>
  org.call('GET', wholeAuditLog + more, { key })

/** An admin who sees only these regions. */
export const regionAdmin = (harness: Harness, org: TestOrg, regionIds: number[]) =>
  newPerson(harness, org, { role: 'admin', regionIds })
