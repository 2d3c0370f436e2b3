// The service on one screen: the phases of a start. What a phase starts, it puts on the stack, which stops it in reverse order.
import type { ServeOptions } from './config/options.ts'
import { writeServerRecord } from './config/server-record.ts'
import type { Services } from './context/services.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Log } from './core/log.ts'
import { type FirstStart, firstStart } from './first-start.ts'
import { builtConsoleFolder } from './http/browser/static-files.ts'
import { readTls } from './http/listen.ts'
import { openCore } from './phases/core.ts'
import { startDevices } from './phases/devices.ts'
import { startHttp } from './phases/http.ts'
import { makeResources } from './phases/resources.ts'
import { startTasks } from './phases/tasks.ts'
import { deleteOldReports } from './resources/bug-reports/retention.ts'
import { hasKey } from './resources/keys/store.ts'

export interface Service {
  /** The address under which this machine reaches the service. */
  readonly url: string
  readonly publicUrl: string
  readonly mqttPort: number | undefined
  /** Set when this start created the first organisation: its key can be shown only now. */
  readonly first: FirstStart | undefined
  /** True if there are organisations, but no key with which the API could be called. */
  readonly lacksKey: boolean
  readonly services: Services
  close(): Promise<void>
}

export interface StartSettings {
  readonly clock?: Clock
  /** Called when another server may have taken the lock: this one must stop. */
  readonly onLost?: () => void
  readonly consoleFolder?: string
}

export async function startService(
  options: ServeOptions,
  log: Log,
  { clock = systemClock, onLost = () => {}, consoleFolder = builtConsoleFolder }: StartSettings = {},
): Promise<Service> {
  const tls = readTls(options)
  const stack = new AsyncDisposableStack()
  try {
    const core = await openCore(stack, { options, log, clock, onLost })
    const resources = await makeResources(core)
    const { services } = core
    await deleteOldReports(services, resources.bundles.folder)
    const devices = await startDevices(stack, core, resources, tls)
    const url = await startHttp(stack, core, resources, devices, { tls, consoleFolder })
    startTasks(stack, core, resources, devices)
    try {
      writeServerRecord(options, { url, publicUrl: services.publicUrl() })
    } catch (error) {
      // Only commands need the record, so a full disk does not stop the server here.
      log.warn({ reason: (error as Error).message }, 'server.json was not written')
    }
    // This comes last: a start that fails must not use up the one time that the first key is shown.
    const first = await firstStart(services)
    log.info({ url, engine: services.db.engine, migrated: core.migrated }, 'ready')
    return {
      url,
      publicUrl: services.publicUrl(),
      mqttPort: devices.listeners.mqttPort,
      first,
      lacksKey: !(await hasKey(services.db.system)),
      services,
      close: () => stack.disposeAsync(),
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
