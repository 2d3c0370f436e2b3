// Reads the stored samples of an endpoint straight from the database, for tests of what happens below the API.
import type { Harness, TestOrg } from '../harness.ts'

/** The times of its raw samples, the oldest first. */
export async function storedTimes({ services }: Harness, { org }: TestOrg, endpointId: string): Promise<number[]> {
  const rows = await services.db.system.kysely
    .selectFrom('samples as s')
    .innerJoin('endpoints as e', (join) => join.onRef('e.org', '=', 's.org').onRef('e.number', '=', 's.endpoint'))
    .select('s.timestamp')
    .where('e.org', '=', org.key)
    .where('e.id', '=', endpointId)
    .orderBy('s.timestamp')
    .execute()
  return rows.map(({ timestamp }) => timestamp)
}
