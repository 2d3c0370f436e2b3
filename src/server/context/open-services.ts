// Opens the ground that everybody stands on: database and secrets, for the server and for commands beside it.
import { join } from 'node:path'
import type { PlaceOptions } from '../config/options.ts'
import { defaultSettings } from '../config/sensor-settings.ts'
import { secretsOf } from '../db/database-secrets.ts'
import { type Opened, type OpenSettings, openDb } from '../db/open.ts'
import { nobodyFollows } from '../events/feed.ts'
import { noDevices } from './connected-devices.ts'
import type { Ground } from './request-context.ts'

type GroundSettings = OpenSettings &
  Pick<Ground, 'clock' | 'keysChanged'> &
  Partial<Pick<Ground, 'devices' | 'feed' | 'publicUrl' | 'settings'>>

export async function openGround(
  options: PlaceOptions,
  given: GroundSettings,
): Promise<{ ground: Ground; opened: Opened }> {
  const { clock, keysChanged, devices = noDevices, feed = nobodyFollows, publicUrl = () => '' } = given
  const opened = await openDb(options, given)
  try {
    const secrets = await secretsOf(opened.db, options.secretKeyFile ?? join(options.dataDir, 'secret.key'))
    const settings = given.settings ?? defaultSettings
    return { ground: { db: opened.db, secrets, clock, keysChanged, devices, feed, publicUrl, settings }, opened }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}
