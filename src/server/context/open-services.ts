// Opens the database and its secrets for a command that runs beside the server, or without one.
import { join } from 'node:path'
import { LocalBus } from '../bus/message-bus.ts'
import type { DatabaseOptions } from '../config/options.ts'
import { defaultSensorSettings } from '../config/sensor-settings.ts'
import type { Clock } from '../core/clock.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import { refuseForgottenSqlite } from '../db/forgotten-sqlite.ts'
import { type OpenDatabaseOptions, type OpenedDatabase, openDatabase } from '../db/open.ts'
import { noEventFeed } from '../events/feed.ts'
import { StrictReads } from '../nodes/strict-reads/strict-reads.ts'
import { noConnectedDevices } from './connected-devices.ts'
import type { Services } from './services.ts'

export const secretKeyFileOf = ({ secretKeyFile, dataDir }: DatabaseOptions): string =>
  secretKeyFile ?? join(dataDir, 'secret.key')

/** A command has no connected devices, no readers of events and no caches. */
export async function openServices(
  options: DatabaseOptions,
  databaseOptions: OpenDatabaseOptions,
  clock: Clock,
): Promise<{ services: Services; opened: OpenedDatabase }> {
  const opened = await openDatabase(options, databaseOptions)
  try {
    const { db } = opened
    const bus = new LocalBus(() => undefined)
    if (!databaseOptions.mustExist) await refuseForgottenSqlite(db, options)
    const services: Services = {
      db,
      node: undefined,
      bus,
      reads: new StrictReads(db, bus),
      clock,
      secrets: await loadDatabaseSecrets(db, secretKeyFileOf(options)),
      keysChanged: () => bus.send('keysChanged', {}),
      devices: noConnectedDevices,
      feed: noEventFeed,
      publicUrl: () => '',
      settings: defaultSensorSettings,
    }
    return { services, opened }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}
