// Writes what this node has counted about credentials, and deletes old counts. Both are scheduled tasks. [contract 10.rule]
import { dayMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import type { CountedAttempts, CredentialAttempts } from '../../devices/mqtt/limits/credential-attempts.ts'
import {
  addAttempts,
  deleteAttemptsBefore,
  hasAttemptBefore,
  listOrgsOfEndpoints,
  storedKinds,
} from './attempt-store.ts'

/** Longer than any window of the rules. A finding itself knows its last attempt. */
const retentionMs = 2 * dayMs

/** Counts that cannot be written are lost: a new attempt counts again. */
export async function writeAttempts({ db }: Services, attempts: CredentialAttempts): Promise<void> {
  const counted = attempts.take()
  if (counted.length === 0) return
  const ids = [...new Set(counted.map(({ endpointId }) => endpointId))]
  const orgs = new Map((await listOrgsOfEndpoints(db.system, { ids })).map(({ id, org }) => [id, org]))
  const known = counted.filter(({ endpointId }) => orgs.has(endpointId))
  for (const [org, rows] of Map.groupBy(known, ({ endpointId }) => orgs.get(endpointId) as number)) {
    await db.forOrg(org).telemetry(async (tx) => {
      for (const row of rows) await addAttempts(tx, valuesOf(row))
    })
  }
}

const valuesOf = ({ endpointId: endpoint, kind, ...rest }: CountedAttempts) => ({
  endpoint,
  kind: storedKinds[kind],
  ...rest,
})

export async function deleteOldAttempts({ db, clock }: Services): Promise<void> {
  const before = clock.now() - retentionMs
  if (await hasAttemptBefore(db.system, { before })) {
    await db.systemTransaction((tx) => deleteAttemptsBefore(tx, { before }))
  }
}
