// Starts the service in five phases. Each phase registers how to stop what it started; a stop runs these in reverse order:
//   1. Scheduled tasks end, and messages that are being sent are finished.
//   2. Event streams end; requests finish while devices are disconnected; then the HTTP server closes. (phases/http.ts does all of it,
//      because a device connection over WebSocket is also an HTTP connection.)
//   3. The health port, which answers until here, closes.
//   4. The last uses of keys are written, and running checks of sessions at identity providers finish.
//   5. The event feed closes, then mail and requests to other services.
//   6. This node leaves the database; the database is closed and its lock released.
// If a start fails, everything that was started until then is stopped in the same way.
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServeOptions } from './config/server-options.ts'
import { readableRecord, recordServer } from './config/server-record.ts'
import type { Services } from './context/services.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Log } from './core/log.ts'
import { builtConsoleFolder } from './core/program-files.ts'
import { relyingPartyOf } from './core/relying-party.ts'
import { type TimeLimits, timeLimits } from './core/time-limits.ts'
import { type FirstStart, firstStart, listMissingAccess, type MissingAccess } from './first-start.ts'
import { type ConsoleFiles, readConsoleFiles } from './http/browser/static-files.ts'
import { loadCertificate } from './http/server-certificate.ts'
import { findFormerPasskeyHost } from './people/sign-in/passkey-host.ts'
import { openCore } from './phases/core.ts'
import { startDevices } from './phases/devices.ts'
import { startHttp } from './phases/http.ts'
import { makeResources } from './phases/resources.ts'
import { startWhenDatabaseWorks } from './phases/start-when-database-works.ts'
import { startTasks } from './phases/tasks.ts'

export interface Service {
  /** The address under which this machine reaches the service. */
  readonly url: string
  readonly publicUrl: string
  readonly mqttPort: number | undefined
  readonly healthPort: number | undefined
  /** Set when this start created the first organisation or its key, which can be shown only now. */
  readonly first: FirstStart | undefined
  readonly missing: MissingAccess
  /** Set if there are passkeys that browsers offer only to this host, and the public address has another one. */
  readonly formerPasskeyHost: string | undefined
  readonly services: Services
  /** Reads the certificate files again, and logs the outcome. They are also read when they change. */
  reloadCertificate(): void
  close(): Promise<void>
}

export interface StartSettings {
  readonly clock?: Clock
  /** Called when another program has taken the database, or the name of this node: this process must stop. */
  readonly onLost?: () => void
  /** The files of the built console by default. A program that starts several services reads them once. */
  readonly consoleFiles?: ConsoleFiles
  /** False if a first start makes no key, because it could not be shown safely. */
  readonly makesFirstKey?: boolean
  /** The time limits, if they are not the usual ones. Tests shorten them. */
  readonly limits?: TimeLimits
  /** The pauses between the runs of scheduled tasks, as a share of the usual ones. Tests shorten them. */
  readonly taskPauseShare?: number
  /** Samples wait this long for others to share their commit; by default 25 ms with PostgreSQL. */
  readonly sampleGatherMs?: number
  /** Is called before the ports of HTTP are opened: closes the server that answered until then. */
  readonly releasePorts?: () => Promise<void>
}

/**
 * Starts the service; if the disk of the database is full, as soon as there is space. Health checks are answered meanwhile. Returns
 * undefined if `stop` is aborted while it waits.
 */
export const startServiceWhenDatabaseWorks = (
  options: ServeOptions,
  log: Log,
  settings: StartSettings,
  stop: AbortSignal,
): Promise<Service | undefined> =>
  startWhenDatabaseWorks(options, log, { stop, limits: settings.limits ?? timeLimits }, (given, releasePorts) =>
    startService(given, log, { ...settings, releasePorts }),
  )

export async function startService(
  options: ServeOptions,
  log: Log,
  {
    clock = systemClock,
    onLost = () => {},
    consoleFiles = readConsoleFiles(builtConsoleFolder),
    makesFirstKey = true,
    limits = timeLimits,
    taskPauseShare = 1,
    sampleGatherMs,
    releasePorts = async () => {},
  }: StartSettings = {},
): Promise<Service> {
  const certificate = loadCertificate(options, log)
  const stack = new AsyncDisposableStack()
  try {
    const core = await openCore(stack, { options, log, clock, limits, onLost })
    const resources = await makeResources(core, sampleGatherMs)
    const { services } = core
    const devices = await startDevices(stack, core, resources, certificate)
    const { url, healthPort } = await startHttp(stack, core, resources, devices, {
      certificate,
      consoleFiles,
      releasePorts,
    })
    startTasks(stack, core, resources, devices, { certificate, pauseShare: taskPauseShare })
    const formerPasskeyHost = await findFormerPasskeyHost(services, {
      current: relyingPartyOf(core.publicAddress.ofPasskeys())?.id,
      recorded: relyingPartyOf(readableRecord(options.dataDir)?.publicUrl)?.id,
    })
    recordServer(
      options,
      { url, publicUrl: services.publicUrl(), isPublicUrlAssumed: options.publicUrl === undefined },
      log,
    )
    // This comes last: the first key is shown once, and a start that fails later would lose it.
    const first = await firstStart(services, makesFirstKey)
    const nodeId = services.node?.id
    core.log.info(
      { ...core.build, nodeId, url, healthPort, engine: services.db.engine, migrated: core.migrated },
      'ready',
    )
    return {
      url,
      publicUrl: services.publicUrl(),
      mqttPort: devices.listeners.mqttPort,
      healthPort,
      first,
      formerPasskeyHost,
      missing: await listMissingAccess(services),
      services,
      reloadCertificate: () => certificate?.check({ isRequested: true }),
      async close() {
        core.isStopping = true
        if (services.db.engine === 'postgres') await sleep((options.stopDelaySeconds ?? 0) * 1000)
        await stack.disposeAsync()
      },
    }
  } catch (error) {
    // A failure to stop must not hide why the start failed.
    await stack.disposeAsync().catch((reason) => log.warn({ err: reason }, 'failed start not undone completely'))
    throw error
  }
}
