// Phase 5 of a start: the scheduled tasks, all in one table.
import { resendAfterMs } from '../../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { repeat } from '../core/repeat.ts'
import { probeDisk } from '../db/disk-probe.ts'
import type { DeviceConnections } from '../devices/mqtt/device-connections.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import { ScheduledBackups } from '../maintenance/backup/scheduled-backups.ts'
import { deleteOldReports } from '../resources/bug-reports/retention.ts'
import { deleteOldCommands, expireCommands, listQueued, listUnacknowledged } from '../resources/commands/progress.ts'
import { listPending, listUndelivered } from '../resources/configs/reported.ts'
import { clearEndedNodes } from '../resources/endpoints/ended-nodes.ts'
import { deletePastCredentials } from '../resources/endpoints/past-credentials.ts'
import { writeLastUsed } from '../resources/keys/last-used.ts'
import { deleteOldSessions } from '../resources/sessions/retention.ts'
import type { Core } from './core.ts'
import type { Devices } from './devices.ts'
import type { Resources } from './resources.ts'

interface ScheduledTask {
  /** Completes the sentence "… failed, trying again" in the log. */
  readonly name: string
  readonly pauseMs: number
  /** True if one run is enough for a whole cluster; false if every node must run it for itself. */
  readonly oncePerCluster: boolean
  readonly run: (signal: AbortSignal) => Promise<unknown>
}

const scheduledTasks = (
  core: Core,
  resources: Resources,
  { connections }: Devices,
  certificate: ServerCertificate | undefined,
): readonly ScheduledTask[] => {
  const { services, streams, keyring, log } = core
  const { db } = services
  const backups = makeScheduledBackups(core)
  return [
    {
      name: 'expiring commands',
      pauseMs: 500,
      oncePerCluster: true,
      run: () => expireCommands(services),
    },
    {
      name: 'checking event streams',
      pauseMs: 1000,
      oncePerCluster: false,
      run: () => streams.check(),
    },
    {
      name: 'probing the full disk',
      pauseMs: 1000,
      oncePerCluster: false,
      run: () => probeDisk(db),
    },
    {
      // The files are compared, not watched: a watch on a symbolic link does not see that it points elsewhere.
      name: 'checking the certificate files',
      pauseMs: 2000,
      oncePerCluster: false,
      run: async () => certificate?.check(),
    },
    {
      name: 'writing last-used times',
      pauseMs: 5000,
      oncePerCluster: false,
      run: () => writeLastUsed(db, keyring, log),
    },
    {
      name: 'rolling up and deleting samples',
      pauseMs: 10_000,
      oncePerCluster: true,
      run: (signal) => resources.rollups.run(signal),
    },
    {
      name: 'sending unacknowledged messages again',
      pauseMs: resendAfterMs / 2,
      oncePerCluster: false,
      async run() {
        connections.wake(await listUnacknowledged(services))
        connections.wake(await listUndelivered(services))
      },
    },
    {
      name: 'clearing endpoints of ended nodes',
      pauseMs: 10_000,
      oncePerCluster: true,
      run: (signal) => clearEndedNodes(services, signal),
    },
    ...tasksForLostMessages(core, connections),
    {
      name: 'deleting old bug reports',
      pauseMs: hourMs,
      oncePerCluster: false,
      run: () => deleteOldReports(services, resources.bundles.folder),
    },
    {
      name: 'deleting old commands',
      pauseMs: hourMs,
      oncePerCluster: true,
      run: () => deleteOldCommands(services),
    },
    {
      name: 'deleting credentials of unenrolled endpoints',
      pauseMs: hourMs,
      oncePerCluster: true,
      run: () => deletePastCredentials(services),
    },
    {
      name: 'deleting old sessions',
      pauseMs: hourMs,
      oncePerCluster: true,
      run: () => deleteOldSessions(services),
    },
    ...(backups
      ? [{ name: 'backup', pauseMs: 5000, oncePerCluster: true, run: (signal: AbortSignal) => backups.run(signal) }]
      : []),
    {
      // This frees the memory of deleted endpoints and of endpoints that are no longer requested.
      name: 'clearing caches',
      pauseMs: hourMs,
      oncePerCluster: false,
      run: async () => core.caches.clear(),
    },
  ]
}

/** Messages between nodes are hints. These tasks find in the database what a lost message would have said; SQLite has one node. */
function tasksForLostMessages({ services }: Core, connections: DeviceConnections): ScheduledTask[] {
  if (services.db.engine === 'sqlite') return []
  return [
    {
      name: 'looking for messages to devices',
      pauseMs: 2000,
      oncePerCluster: false,
      run: () => wakeWaiting(services, connections),
    },
    {
      name: 'checking the connections of devices',
      pauseMs: minuteMs,
      oncePerCluster: false,
      run: () => connections.reconcile(),
    },
  ]
}

/** Sends the devices of this node what waits for them. */
async function wakeWaiting(services: Services, connections: DeviceConnections): Promise<void> {
  connections.wake(await listQueued(services))
  for (const { id, version } of await listPending(services)) connections.wakeForConfig(id, version)
}

/** After an interruption of the session for messages the tasks run at once. */
function reconcileAfterLoss({ services, log }: Core, connections: DeviceConnections): void {
  services.bus.lost(() => {
    Promise.all([connections.reconcile(), wakeWaiting(services, connections)]).catch((error) =>
      log.warn({ reason: error.message }, 'connections of devices not checked, trying again within a minute'),
    )
  })
}

/** Undefined unless an option names a folder for backups. */
function makeScheduledBackups({ options, log, services, metrics }: Core): ScheduledBackups | undefined {
  if (options.backupDir === undefined) return undefined
  const backups = new ScheduledBackups(options.backupDir, options, log, services.clock)
  backups.register(metrics)
  return backups
}

export function startTasks(
  stack: AsyncDisposableStack,
  core: Core,
  resources: Resources,
  devices: Devices,
  certificate: ServerCertificate | undefined,
): void {
  reconcileAfterLoss(core, devices.connections)
  for (const { pauseMs, name, run } of scheduledTasks(core, resources, devices, certificate)) {
    stack.defer(repeat(pauseMs, name, core.log, run))
  }
}
