// Phase 5 of a start: the scheduled tasks, in one table with those of deletion-tasks.ts.
import { resendAfterMs } from '../../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../../contract/durations.ts'
import type { Services } from '../context/services.ts'
import { repeat } from '../core/repeat.ts'
import { probeDisk } from '../db/disk-probe.ts'
import type { DeviceConnections } from '../devices/mqtt/device-connections.ts'
import { expireCommands, listEndpointsWithOverdueCommand } from '../fleet/commands/progress.ts'
import { listUndelivered } from '../fleet/configs/reported.ts'
import { clearEndedNodes } from '../fleet/endpoints/ended-nodes.ts'
import { endLongSleep } from '../fleet/endpoints/oversleep.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import { writeAttempts } from '../incidents/credentials/attempts.ts'
import { readRulesInForce } from '../incidents/incident-rules/in-force.ts'
import { RecurringJobs } from '../jobs/recurring/task.ts'
import { listOrgs } from '../journal/orgs/store.ts'
import { ScheduledBackups } from '../maintenance/backup/scheduled-backups.ts'
import { CertificateExpiry } from '../nodes/certificate-expiry.ts'
import { GraceEnd } from '../nodes/grace-end.ts'
import { type HeldTask, TaskHolders, TaskMoved } from '../nodes/task-holders.ts'
import { writeLastUsed } from '../people/keys/last-used.ts'
import { writeMonthMessages } from '../reports/month-message/task.ts'
import { makePartitions } from '../sensors/rollups/partitions.ts'
import { rollUpOrg } from '../sensors/rollups/roll-up.ts'
import type { Core } from './core.ts'
import { deletionTasks } from './deletion-tasks.ts'
import type { Devices } from './devices.ts'
import { reconcileAfterLoss, wakeWaiting } from './lost-messages.ts'
import type { Resources } from './resources.ts'
import type { ScheduledTask } from './scheduled-task.ts'

const scheduledTasks = (
  core: Core,
  resources: Resources,
  { connections, attempts }: Devices,
  certificate: ServerCertificate | undefined,
): readonly ScheduledTask[] => {
  const { services, streams, keyring, log, node } = core
  const { db } = services
  const backups = makeScheduledBackups(core)
  const expiry = new CertificateExpiry(db, services.clock, node, () => certificate?.expiresAt)
  const recurringJobs = new RecurringJobs()
  const graceEnd = new GraceEnd(db, node, services.reconnects)
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
      run: async () => {
        certificate?.check()
        await expiry.writeOwn()
      },
    },
    {
      name: 'writing last-used times',
      pauseMs: 5000,
      runsOn: 'every node',
      run: () => writeLastUsed(services, keyring, log),
    },
    {
      name: 'writing attempts with credentials',
      pauseMs: 5000,
      runsOn: 'every node',
      run: () => writeAttempts(services, attempts),
    },
    {
      name: 'looking for incidents',
      pauseMs: 1000,
      runsOn: 'one node for each organisation',
      run: async (held, org, signal) => resources.incidents.run(held, org, signal, await expiry.findEarliest()),
    },
    {
      name: 'ending long sleep',
      pauseMs: 10_000,
      runsOn: 'one node for each organisation',
      run: async (held, org) => {
        const { limits } = (await readRulesInForce(db.forOrg(org.key)))['device.offline']
        await endLongSleep(held, org.key, (limits.sleepsAtMostHours ?? 0) * hourMs)
      },
    },
    {
      name: 'restarting devices of idle rooms',
      pauseMs: 1000,
      runsOn: 'one node for each organisation',
      run: (held, org) => resources.deferredReboots.run(held, org),
    },
    {
      name: 'advancing jobs',
      pauseMs: 1000,
      runsOn: 'one node for each organisation',
      run: (held, org, signal) => resources.jobs.advance(held, org, signal),
    },
    {
      name: 'starting recurring jobs',
      pauseMs: 5000,
      runsOn: 'one node for each organisation',
      run: (held, org, signal) => recurringJobs.run(held, org, signal),
    },
    {
      name: 'rolling up samples',
      pauseMs: 10_000,
      runsOn: 'one node for each organisation',
      run: rollUpOrg,
    },
    {
      name: 'delivering messages',
      pauseMs: 500,
      runsOn: 'one node for each organisation',
      run: (held, org, signal) => resources.deliveries.run(held, org, signal),
    },
    {
      name: 'writing the messages about a month',
      pauseMs: minuteMs,
      runsOn: 'one node for each organisation',
      run: (held, org, signal) => writeMonthMessages(held, org, resources.reports, signal),
    },
    {
      // SQLite has no partitions.
      name: 'creating partitions',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: async (held, signal) => db.engine === 'postgres' && makePartitions(held, signal),
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
        connections.wake(await listEndpointsWithOverdueCommand(services))
        connections.wake(await listUndelivered(services))
      },
    },
    {
      name: 'storing the end of the grace period',
      pauseMs: 1000,
      runsOn: 'every node',
      run: () => graceEnd.write(),
    },
    {
      name: 'clearing endpoints of ended nodes',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: clearEndedNodes,
    },
    ...tasksForLostMessages(core, connections),
    ...deletionTasks(core, resources),
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

interface TaskSettings {
  readonly certificate: ServerCertificate | undefined
  /** The pauses between runs, as a share of those in the table. */
  readonly pauseShare: number
}

export function startTasks(
  stack: AsyncDisposableStack,
  core: Core,
  resources: Resources,
  devices: Devices,
  { certificate, pauseShare }: TaskSettings,
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
  stack.defer(() => resources.deliveries.finish())
  for (const task of tasks) {
    stack.defer(repeat(task.pauseMs * pauseShare, task.name, log, (signal) => runTask(task, services, holders, signal)))
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
    await runHeld(holders.find(task.name), holders, (held) => task.run({ ...services, db: held.db }, held.signal))
  } else {
    // The failure of one organisation does not keep the others waiting.
    const failures: unknown[] = []
    for (const org of await listOrgs(services.db.system)) {
      if (signal.aborted) return
      const found = holders.find(task.name, org.key)
      const run = runHeld(found, holders, (held) => task.run({ ...services, db: held.db }, org, held.signal))
      await run.catch((error) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
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
