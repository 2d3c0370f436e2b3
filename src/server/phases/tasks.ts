// Phase 5 of a start: the scheduled tasks, all in one table.
import { resendAfterMs } from '../../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { repeat } from '../core/repeat.ts'
import { probeDisk } from '../db/disk-probe.ts'
import type { DeviceConnections } from '../devices/mqtt/device-connections.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import { ScheduledBackups } from '../maintenance/backup/scheduled-backups.ts'
import { type HeldTask, TaskHolders, TaskMoved } from '../nodes/task-holders.ts'
import { moveOldBundles } from '../resources/bug-reports/bundles/move.ts'
import { deleteOldReports, sweepBundleFolder } from '../resources/bug-reports/retention.ts'
import { deleteOldCommands, expireCommands, listUnacknowledged } from '../resources/commands/progress.ts'
import { listUndelivered } from '../resources/configs/reported.ts'
import { clearEndedNodes } from '../resources/endpoints/ended-nodes.ts'
import { deletePastCredentials } from '../resources/endpoints/past-credentials.ts'
import { writeLastUsed } from '../resources/keys/last-used.ts'
import { listOrgs } from '../resources/orgs/store.ts'
import { makePartitions } from '../resources/sensors/rollups/partitions.ts'
import { rollUpOrg } from '../resources/sensors/rollups/roll-up.ts'
import { deleteOldSessions } from '../resources/sessions/retention.ts'
import { deleteOldChallenges } from '../resources/sign-in/retention.ts'
import type { Core } from './core.ts'
import type { Devices } from './devices.ts'
import { reconcileAfterLoss, wakeWaiting } from './lost-messages.ts'
import type { Resources } from './resources.ts'

/**
 * Every node runs a task that is about itself: its connections, streams, files, memory. Other tasks run once in the cluster, on the
 * node that holds them, or once for each organisation, shared out among the nodes.
 */
type ScheduledTask = EveryNodeTask | OneNodeTask | OrganisationTask

interface TaskTiming {
  /** Completes the sentence "… failed, trying again" in the log. */
  readonly name: string
  readonly pauseMs: number
}
interface EveryNodeTask extends TaskTiming {
  readonly runsOn: 'every node'
  readonly run: (signal: AbortSignal) => Promise<unknown>
}
interface OneNodeTask extends TaskTiming {
  readonly runsOn: 'one node'
  /** Must write through these services only: their database refuses to when another node holds the task. */
  readonly run: (services: Services, signal: AbortSignal) => Promise<unknown>
}
interface OrganisationTask extends TaskTiming {
  readonly runsOn: 'one node for each organisation'
  readonly run: (services: Services, org: OrgRow, signal: AbortSignal) => Promise<unknown>
}
type OrgRow = Awaited<ReturnType<typeof listOrgs>>[number]

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
      runsOn: 'one node',
      run: expireCommands,
    },
    {
      name: 'checking event streams',
      pauseMs: 1000,
      runsOn: 'every node',
      run: () => streams.check(),
    },
    {
      name: 'probing the full disk',
      pauseMs: 1000,
      runsOn: 'every node',
      run: () => probeDisk(db),
    },
    {
      // The files are compared, not watched: a watch on a symbolic link does not see that it points elsewhere.
      name: 'checking the certificate files',
      pauseMs: 2000,
      runsOn: 'every node',
      run: async () => certificate?.check(),
    },
    {
      name: 'writing last-used times',
      pauseMs: 5000,
      runsOn: 'every node',
      run: () => writeLastUsed(services, keyring, log),
    },
    {
      name: 'rolling up samples',
      pauseMs: 10_000,
      runsOn: 'one node for each organisation',
      run: rollUpOrg,
    },
    {
      // SQLite has no partitions.
      name: 'creating partitions',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: async (held, signal) => db.engine === 'postgres' && makePartitions(held, signal),
    },
    {
      name: 'deleting old samples',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: (held, signal) => resources.sampleDeletion.run(held, signal),
    },
    {
      name: 'reading shared settings',
      pauseMs: 5000,
      runsOn: 'every node',
      run: () => core.sharedSettings.refresh(db),
    },
    {
      // Another node may have deleted samples.
      name: 'reading which samples were deleted',
      pauseMs: minuteMs,
      runsOn: 'every node',
      run: () => resources.horizon.refresh(db),
    },
    {
      name: 'sending unacknowledged messages again',
      pauseMs: resendAfterMs / 2,
      runsOn: 'every node',
      async run() {
        connections.wake(await listUnacknowledged(services))
        connections.wake(await listUndelivered(services))
      },
    },
    {
      name: 'clearing endpoints of ended nodes',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: clearEndedNodes,
    },
    ...tasksForLostMessages(core, connections),
    {
      name: 'deleting old bug reports',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: (services) => deleteOldReports(services, resources.bundles.storage),
    },
    {
      // The folder is on the disk of this node.
      name: 'sweeping the folder of log bundles',
      pauseMs: hourMs,
      runsOn: 'every node',
      run: () => sweepBundleFolder(services, resources.bundleFolder),
    },
    ...(db.engine === 'postgres' ? [moveTask(core, resources)] : []),
    {
      name: 'deleting old commands',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldCommands,
    },
    {
      name: 'deleting credentials of unenrolled endpoints',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deletePastCredentials,
    },
    {
      name: 'deleting old sessions',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldSessions,
    },
    {
      name: 'deleting answered challenges of passkeys',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldChallenges,
    },
    ...(backups
      ? [
          {
            // A backup reads the database in a process of its own, and writes nothing to it.
            name: 'backup',
            pauseMs: 5000,
            runsOn: 'one node' as const,
            run: (_: Services, signal: AbortSignal) => backups.run(signal),
          },
        ]
      : []),
    {
      // This frees the memory of deleted endpoints and of endpoints that are no longer requested.
      name: 'clearing caches',
      pauseMs: hourMs,
      runsOn: 'every node',
      run: async () => core.caches.clear(),
    },
  ]
}

const moveTask = ({ services, log }: Core, { bundleFolder: folder, bundles }: Resources): ScheduledTask => ({
  name: 'moving log bundles into the database',
  pauseMs: 60_000,
  runsOn: 'every node',
  run: (signal) => moveOldBundles(services, { folder, rows: bundles.storage, log }, signal),
})

/** Messages between nodes are hints. These tasks find in the database what a lost message would have said; SQLite has one node. */
function tasksForLostMessages({ services }: Core, connections: DeviceConnections): ScheduledTask[] {
  if (services.db.engine === 'sqlite') return []
  return [
    {
      name: 'looking for messages to devices',
      pauseMs: 2000,
      runsOn: 'every node',
      run: () => wakeWaiting(services, connections),
    },
    {
      name: 'checking the connections of devices',
      pauseMs: minuteMs,
      runsOn: 'every node',
      run: () => connections.reconcile(),
    },
  ]
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
  const { services, node, log } = core
  const { db, bus } = services
  const tasks = scheduledTasks(core, resources, devices, certificate)
  const listParts = async () => (await listOrgs(db.system)).map(({ key }) => key)
  const holders = new TaskHolders(
    { db, node, bus, log },
    tasks
      .filter(({ runsOn }) => runsOn !== 'every node')
      .map(({ name, runsOn }) => (runsOn === 'one node' ? { name } : { name, listParts })),
  )
  stack.defer(() => holders.release())
  for (const task of tasks) {
    stack.defer(repeat(task.pauseMs, task.name, log, (signal) => runTask(task, services, holders, signal)))
  }
  // A stop first ends the tasks that run, then waits for each of them.
  stack.defer(() => holders.stop())
  holders.start()
}

async function runTask(
  task: ScheduledTask,
  services: Services,
  holders: TaskHolders,
  signal: AbortSignal,
): Promise<void> {
  if (task.runsOn === 'every node') {
    await task.run(signal)
  } else if (task.runsOn === 'one node') {
    await runHeld(holders.find(task.name), holders, ({ db, signal }) => task.run({ ...services, db }, signal))
  } else {
    for (const org of await listOrgs(services.db.system)) {
      if (signal.aborted) return
      const held = holders.find(task.name, org.key)
      await runHeld(held, holders, ({ db, signal }) => task.run({ ...services, db }, org, signal))
    }
  }
}

/** Does nothing if another node holds the task. */
async function runHeld(
  held: HeldTask | undefined,
  holders: TaskHolders,
  run: (held: HeldTask) => Promise<unknown>,
): Promise<void> {
  try {
    if (held) await run(held)
  } catch (error) {
    if (!(error instanceof TaskMoved)) throw error
    await holders.refresh()
  }
}
