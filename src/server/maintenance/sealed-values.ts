// Opens everything that is encrypted with the secret key, to prove that the key fits the database.
import type { Org } from '../auth/token-holder.ts'
import { channelContext } from '../channels/settings.ts'
import type { Secrets } from '../core/secrets.ts'
import { listTables } from '../db/copy/catalog.ts'
import { readBatches, type TableRow, type TableSide } from '../db/copy/table-rows.ts'
import { endpointContext, profileContext } from '../fleet/configs/sealed-config.ts'
import { itemContext, testContext } from '../fleet/gateways/fields.ts'
import { enrolmentCodeContext } from '../fleet/rooms/enrolment-code.ts'
import { sourceContext } from '../fleet/sources/fields.ts'
import { jobContext } from '../jobs/action.ts'
import { answerContext } from '../journal/idempotency/rules.ts'
import { clientSecretContext } from '../people/identity/settings.ts'
import { refreshTokenContext } from '../people/sessions/refresh-token.ts'

interface SealedValue {
  readonly sealed: Buffer
  /** The row that the value is bound to. */
  readonly context: string
}

const passwords = (json: unknown, context: string): SealedValue[] =>
  Object.values<string>(JSON.parse(String(json))).map((text) => ({ sealed: Buffer.from(text, 'base64'), context }))

const present = (sealed: unknown, context: string): SealedValue[] =>
  sealed === null ? [] : [{ sealed: sealed as Buffer, context }]

/** The sealed values in a row, for each table that has some. */
const sealedIn: Readonly<Record<string, (org: Org, row: TableRow) => readonly SealedValue[]>> = {
  rooms: (org, row) => [{ sealed: row.dec_sealed as Buffer, context: enrolmentCodeContext(org.id, Number(row.id)) }],
  profiles: (org, row) => passwords(row.secrets, profileContext(org, Number(row.id))),
  profile_versions: (org, row) => passwords(row.secrets, profileContext(org, Number(row.profile_id))),
  endpoint_configs: (org, row) => passwords(row.secrets, endpointContext(org, String(row.endpoint_id))),
  config_versions: (org, row) => [
    ...passwords(row.secrets, endpointContext(org, String(row.endpoint_id))),
    ...passwords(row.profile_secrets, profileContext(org, Number(row.profile_id))),
  ],
  jobs: (org, row) => passwords(row.secrets, jobContext(org, Number(row.id))),
  channels: (org, row) => [{ sealed: row.secrets as Buffer, context: channelContext(org.key, Number(row.id)) }],
  identity_providers: (org, row) => present(row.client_secret, clientSecretContext(org.key)),
  gateway_devices: (org, row) => present(row.secrets, itemContext(org, String(row.id))),
  gateway_tests: (org, row) => present(row.secrets, testContext(org, String(row.id))),
  sources: (org, row) => present(row.secrets, sourceContext(org, String(row.id))),
  idempotency_keys: (org, row) => present(row.answer, answerContext(org.key, row.id as Buffer)),
  user_sessions: (org, row) =>
    present(row.refresh_token, refreshTokenContext({ org: org.key, hash: row.hash as Buffer })),
}

export interface SealedVerdict {
  readonly opened: number
  /** A sentence about the first value that does not open; undefined if all do. */
  readonly problem: string | undefined
}

export async function openSealedValues(
  side: TableSide,
  secrets: Secrets,
  orgs: readonly Org[],
): Promise<SealedVerdict> {
  let opened = 0
  const byKey = new Map(orgs.map((org) => [org.key, org]))
  for (const table of await listTables(side, side.engine)) {
    const find = sealedIn[table.name]
    if (!find) continue
    for await (const rows of readBatches(side, table)) {
      for (const row of rows) {
        const org = byKey.get(Number(row.org))
        for (const { sealed, context } of org ? find(org, row) : []) {
          try {
            secrets.unseal(sealed, context)
            opened++
          } catch {
            return { opened, problem: `a value of ${table.name} (${context}) cannot be decrypted` }
          }
        }
      }
    }
  }
  return { opened, problem: undefined }
}
