// Recognises the devices of unenrolled endpoints by their former credentials, for 90 days. [contract 8.unenrolment]

import { hourMs } from '../../../contract/durations.ts'
import { isCredential, tokenHash } from '../../auth/token.ts'
import type { Services } from '../../context/services.ts'
import type { UnenrolledDevice } from '../../devices/mqtt/handlers.ts'
import { deletePastCredentialRows, findPastCredential, hasPastCredential } from './past-credential-store.ts'

const retentionMs = 90 * 24 * hourMs
const maxRowsPerDelete = 1000

/** Returns the former endpoint if the credential was its own when it was unenrolled. */
export async function findUnenrolledDevice(
  { db, clock }: Services,
  endpointId: string,
  credential: string,
): Promise<UnenrolledDevice | undefined> {
  if (!isCredential(credential)) return undefined
  const row = await findPastCredential(db.system, { hash: tokenHash(credential), since: clock.now() - retentionMs })
  if (!row || row.endpoint_id !== endpointId) return undefined
  return { org: { key: row.org_key, id: row.org_id }, id: row.endpoint_id, serial: row.serial }
}

export async function deletePastCredentials({ db, clock }: Services): Promise<void> {
  const before = clock.now() - retentionMs
  while (await hasPastCredential(db.system, { before })) {
    await db.systemTransaction((tx) => deletePastCredentialRows(tx, { before, limit: maxRowsPerDelete }))
  }
}
