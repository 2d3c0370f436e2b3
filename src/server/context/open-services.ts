// Opens the database and the secrets, for the server and for commands that run beside it.

import { join } from 'node:path'
import type { DatabaseOptions } from '../config/options.ts'
import { defaultSensorSettings } from '../config/sensor-settings.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import { type OpenDatabaseOptions, type OpenedDatabase, openDatabase } from '../db/open.ts'
import { noEventFeed } from '../events/feed.ts'
import { noConnectedDevices } from './connected-devices.ts'
import type { Services } from './services.ts'

type ServiceSettings = OpenDatabaseOptions &
  Pick<Services, 'clock' | 'keysChanged'> &
  Partial<Pick<Services, 'devices' | 'feed' | 'publicUrl' | 'settings'>>

export async function openServices(
  options: DatabaseOptions,
  given: ServiceSettings,
): Promise<{ ground: Services; opened: OpenedDatabase }> {
  const { clock, keysChanged, devices = noConnectedDevices, feed = noEventFeed, publicUrl = () => '' } = given
  const opened = await openDatabase(options, given)
  try {
    const secrets = await loadDatabaseSecrets(opened.db, options.secretKeyFile ?? join(options.dataDir, 'secret.key'))
    const settings = given.settings ?? defaultSensorSettings
    return { ground: { db: opened.db, secrets, clock, keysChanged, devices, feed, publicUrl, settings }, opened }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}
