// Opens the database and its secrets for a command that runs beside the server, or without one.
import { join } from 'node:path'
import { defaultSensorSettings } from '../config/sensor-settings.ts'
import type { DatabaseOptions } from '../config/server-options.ts'
import type { Clock } from '../core/clock.ts'
import { makeLog } from '../core/log.ts'
import { timeLimits } from '../core/time-limits.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import type { Database } from '../db/db.ts'
import { refuseForgottenSqlite } from '../db/forgotten-sqlite.ts'
import { type OpenDatabaseOptions, type OpenedDatabase, openDatabase } from '../db/open.ts'
import type { LocateFunction } from '../events/find-places.ts'
import { CommandEvents } from '../events/publisher.ts'
import { openCommandBus } from '../nodes/command-bus.ts'
import { ReconnectTimes } from '../nodes/reconnect-times.ts'
import { StrictReads } from '../nodes/strict-reads/strict-reads.ts'
import { DeviceMailbox } from './connected-devices.ts'
import type { Services } from './services.ts'

export const secretKeyFileOf = ({ secretKeyFile, dataDir }: DatabaseOptions): string =>
  secretKeyFile ?? join(dataDir, 'secret.key')

/** A command has no connected devices, no readers of events and no caches. It sends messages to the nodes that run beside it. */
export async function openServices(
  options: DatabaseOptions,
  databaseOptions: OpenDatabaseOptions,
  clock: Clock,
  locate: (db: Database, ...request: Parameters<LocateFunction>) => ReturnType<LocateFunction>,
): Promise<{ services: Services; opened: OpenedDatabase; close: () => Promise<void> }> {
  const opened = await openDatabase(options, databaseOptions)
  try {
    const { db } = opened
    if (!databaseOptions.mustExist) await refuseForgottenSqlite(db, options)
    const { bus, flush } = openCommandBus(db)
    const feed = new CommandEvents({
      bus,
      locate: (...request) => locate(db, ...request),
      clock,
      log: makeLog('silent'),
    })
    const services: Services = {
      db,
      node: undefined,
      bus,
      reads: new StrictReads(db, bus),
      clock,
      limits: timeLimits,
      secrets: await loadDatabaseSecrets(db, secretKeyFileOf(options), options.secretKey),
      keysChanged: () => bus.send('keysChanged', {}),
      devices: new DeviceMailbox(bus),
      feed,
      publicUrl: () => '',
      mailer: undefined,
      settings: defaultSensorSettings,
      // A command decides nothing about devices that are away.
      reconnects: new ReconnectTimes(clock, () => 0),
    }
    const close = async () => {
      await feed.close()
      await flush()
      await db.close()
    }
    return { services, opened, close }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}
