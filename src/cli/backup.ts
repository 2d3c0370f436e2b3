// `roomkeeper backup` and `roomkeeper restore`: one file with the whole state, made while the server runs.
import type { DatabaseOptions } from '../server/config/server-options.ts'
import { secretKeyFileOf } from '../server/context/open-services.ts'
import { StartupError } from '../server/core/failure.ts'
import { versionText } from '../server/core/program-files.ts'
import { secretKeyVariable } from '../server/core/secrets.ts'
import { runBackupProcess } from '../server/maintenance/backup/backup-process.ts'
import { makeBackup } from '../server/maintenance/backup/make-backup.ts'
import { restoreBackup, shortFingerprint } from '../server/maintenance/backup/restore-backup.ts'
import { countText } from '../server/maintenance/count-text.ts'
import { checkLineText, checkPlace } from './check.ts'
import { type DatabaseCommandOptions, withRecordedAddress } from './database-command.ts'
import { printResult, type Terminal } from './terminal/terminal.ts'

interface BackupOptions extends DatabaseCommandOptions {
  readonly withSecret?: boolean
  readonly withBundles?: boolean
}

export const backupCommand = (terminal: Terminal, file: string, options: BackupOptions): Promise<void> =>
  withRecordedAddress(options, async (place) => {
    const { withSecret = false, withBundles = false, json } = options
    const request = { place, file, withSecret, withBundles }
    const summary = await makeBackup(request, stopSignal(terminal, 'No backup was made.'))
    const fingerprint = shortFingerprint(summary.secretFingerprint)
    printResult(terminal, json, summary, [
      `Backed up to ${summary.file}: ${summary.bytes} bytes${withBundles ? `, with ${countText(summary.bundles, 'log bundle', 'log bundles')}` : ''}.`,
      withSecret
        ? 'The file contains the secret key: anyone who can read the file can read all passwords and enrolment codes.'
        : `The secret key is not in it: keep ${place.secretKey === undefined ? secretKeyFileOf(place) : secretKeyVariable} (fingerprint ${fingerprint}) somewhere else.`,
    ])
  })

/** Ctrl-C ends the work in an orderly way, so that it removes its files. */
function stopSignal(terminal: Terminal, outcome: string): AbortSignal {
  const stop = new AbortController()
  void terminal.untilStopped().then((name) => stop.abort(new StartupError(`Stopped by ${name}. ${outcome}`)))
  return stop.signal
}

export async function restoreCommand(
  terminal: Terminal,
  file: string,
  options: DatabaseCommandOptions & DatabaseOptions,
): Promise<void> {
  const { createdAt, version, commit } = await restoreBackup(
    file,
    options,
    stopSignal(terminal, 'Nothing was restored.'),
  )
  const by = { version, ...(commit !== undefined && { commit }) }
  const { checks, copied } = await checkPlace(options)
  printResult(terminal, options.json, { createdAt, ...by, checks, copied }, [
    `Restored the state of ${createdAt}, backed up by version ${versionText(by)}.`,
    ...checks.map(checkLineText),
    'Later changes are lost. Ids that were given after the backup may be given again, keys that were revoked after it work again, and devices that enrolled after it are unknown.',
    'All sessions and sign-in links have ended: sign in with an API key, or with a link from "roomkeeper login-link".',
    ...(copied === undefined ? [] : [copied]),
  ])
  if (checks.some((line) => !line.isGood)) throw new StartupError('The restored database failed a check.')
}

/** The server runs this for backups that it makes by itself. */
export async function backupProcess(terminal: Terminal): Promise<void> {
  terminal.write(JSON.stringify(await runBackupProcess(process.stdin)))
}
