// `roomkeeper check`: checks the database and its secret key, also beside a running server.
import type { DatabaseOptions } from '../server/config/server-options.ts'
import { secretKeyFileOf } from '../server/context/open-services.ts'
import { StartupError } from '../server/core/failure.ts'
import { copiedSentences, findCopiedMark } from '../server/db/copied-mark.ts'
import { withoutTransaction } from '../server/db/copy/transaction-side.ts'
import { loadDatabaseSecrets } from '../server/db/database-secrets.ts'
import { databaseProblemOf } from '../server/db/errors.ts'
import { openDatabase } from '../server/db/open.ts'
import { listOrgs } from '../server/journal/orgs/store.ts'
import {
  type CheckLine,
  checkIntegrity,
  checkReferences,
  checkSecretParts,
  damageLine,
  isDamage,
} from '../server/maintenance/check-database.ts'
import { type DatabaseCommandOptions, withRecordedAddress } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

export const checkLineText = ({ check, isGood, result }: CheckLine): string =>
  `${check.padEnd(12)}${isGood ? 'ok' : 'FAILED'}: ${result}.`

interface CheckedPlace {
  readonly checks: readonly CheckLine[]
  /** Says that `copy` has copied the database elsewhere. */
  readonly copied?: string
}

/** A damaged database is one failed line, because further checks would read the damage. */
export async function checkPlace(place: DatabaseOptions): Promise<CheckedPlace> {
  try {
    return await runChecks(place)
  } catch (error) {
    const { message, cause } = error as Error
    if (isDamage(error) || isDamage(cause ?? {})) return { checks: [damageLine(message.replace(/\.$/, ''))] }
    if (databaseProblemOf(error) === undefined) throw error
    throw new StartupError(`The check was not finished: ${message.replace(/\.$/, '')}. Try again.`)
  }
}

async function runChecks(place: DatabaseOptions): Promise<CheckedPlace> {
  const { db } = await openDatabase(place, { isLocked: false, mustExist: true, mayBeCopied: true, onError() {} })
  try {
    const side = withoutTransaction(db)
    const integrity = await checkIntegrity(side)
    if (!integrity.isGood) return { checks: [integrity] }
    const mark = await findCopiedMark(db)
    const lines = [integrity, await checkReferences(side)]
    try {
      const secrets = await loadDatabaseSecrets(db, secretKeyFileOf(place), place.secretKey)
      lines.push(...(await checkSecretParts(side, secrets, await listOrgs(db.system))))
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      lines.push({ check: 'secret key', isGood: false, result: error.message.replace(/\.$/, '') })
    }
    return { checks: lines, ...(mark && { copied: copiedSentences(place, mark) }) }
  } finally {
    await db.close()
  }
}

export const checkCommand = (terminal: Terminal, options: DatabaseCommandOptions): Promise<void> =>
  withRecordedAddress(options, async (place) => {
    const { checks, copied } = await checkPlace(place)
    const isGood = checks.every((line) => line.isGood)
    printResult(terminal, options.json, { ok: isGood, checks, copied }, [
      ...checks.map(checkLineText),
      ...(copied === undefined ? [] : [copied]),
    ])
    if (!isGood) throw new StartupError('The database failed a check. Restore a backup.')
  })
