// Opens the ground that everybody stands on: database and secrets, for the server and for commands beside it.
import { join } from 'node:path'
import type { Ground } from './by.ts'
import { type Opened, type OpenSettings, openDb } from './db/open.ts'
import { secretsOf } from './db/secrets-of.ts'
import { noDevices } from './devices.ts'
import type { PlaceOptions } from './options.ts'

type GroundSettings = OpenSettings &
  Pick<Ground, 'clock' | 'keysChanged'> &
  Partial<Pick<Ground, 'devices' | 'publicUrl'>>

export async function openGround(
  options: PlaceOptions,
  settings: GroundSettings,
): Promise<{ ground: Ground; opened: Opened }> {
  const { clock, keysChanged, devices = noDevices, publicUrl = () => '' } = settings
  const opened = await openDb(options, settings)
  try {
    const secrets = await secretsOf(opened.db, options.secretKeyFile ?? join(options.dataDir, 'secret.key'))
    return { ground: { db: opened.db, secrets, clock, keysChanged, devices, publicUrl }, opened }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}
