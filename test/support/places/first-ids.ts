// Lets the ids of an organisation begin far apart, so that answers can be searched for them.
import type { Harness, TestOrg } from '../harness.ts'

/** Ids of different kinds are never equal, and all are equally long. */
export const firstIds = {
  region: 7_100_000,
  location: 7_200_000,
  room: 7_300_000,
  note: 7_400_000,
  user: 7_500_000,
  incident: 7_600_000,
  silence: 7_700_000,
  job: 7_800_000,
  recurringJob: 7_850_000,
}

/** Must be called before anything is created. */
export async function setFirstIds({ services }: Harness, { org }: TestOrg): Promise<void> {
  const counters = Object.entries(firstIds).map(([noun, last]) => ({ org: org.key, noun, last }))
  await services.db.systemTransaction(async ({ kysely }) => {
    await kysely.insertInto('counters').values(counters).execute()
  })
}
