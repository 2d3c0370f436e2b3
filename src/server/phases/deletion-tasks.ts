// The scheduled tasks that delete what is old or left over.
import { hourMs } from '../../contract/durations.ts'
import { deleteOldMessages } from '../channels/delivery/retention.ts'
import { moveOldBundles } from '../fleet/bug-reports/bundles/move.ts'
import { deleteOldReports, sweepBundleFolder } from '../fleet/bug-reports/retention.ts'
import { deleteOldCommands } from '../fleet/commands/retention.ts'
import { deleteOldSpans } from '../fleet/connections/retention.ts'
import { deletePastCredentials } from '../fleet/endpoints/past-credentials.ts'
import { deleteFormerPlaces } from '../fleet/former-places/retention.ts'
import { deleteOldTests } from '../fleet/gateways/retention.ts'
import { deleteOldAttempts } from '../incidents/credentials/attempts.ts'
import { deleteOldIncidents, deleteOldSilences } from '../incidents/retention.ts'
import { deleteOldJobs } from '../jobs/retention.ts'
import { deleteOldIdempotencyKeys } from '../journal/idempotency/retention.ts'
import { deleteOldSessions } from '../people/sessions/retention.ts'
import { deleteOldChallenges } from '../people/sign-in/retention.ts'
import type { Core } from './core.ts'
import type { Resources } from './resources.ts'
import type { ScheduledTask } from './scheduled-task.ts'

export function deletionTasks(core: Core, resources: Resources): readonly ScheduledTask[] {
  const { services } = core
  return [
    {
      name: 'deleting old samples',
      pauseMs: 10_000,
      runsOn: 'one node',
      run: (held, signal) => resources.sampleDeletion.run(held, signal),
    },
    {
      name: 'deleting old bug reports',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: (held) => deleteOldReports(held, resources.bundles.storage),
    },
    {
      // The folder is on the disk of this node.
      name: 'sweeping the folder of log bundles',
      pauseMs: hourMs,
      runsOn: 'every node',
      run: () => sweepBundleFolder(services, resources.bundleFolder),
    },
    ...(services.db.engine === 'postgres' ? [moveTask(core, resources)] : []),
    {
      name: 'deleting old commands',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldCommands,
    },
    {
      name: 'deleting old connections',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldSpans,
    },
    {
      name: 'deleting former places',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteFormerPlaces,
    },
    {
      name: 'deleting credentials of unenrolled endpoints',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deletePastCredentials,
    },
    {
      name: 'deleting old attempts with credentials',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldAttempts,
    },
    {
      name: 'deleting old incidents',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: (held, signal) => deleteOldIncidents(held, core.sharedSettings.values.incidentRetentionDays, signal),
    },
    {
      name: 'deleting old silences',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldSilences,
    },
    {
      name: 'deleting old jobs',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldJobs,
    },
    {
      name: 'deleting old messages',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldMessages,
    },
    {
      name: 'deleting old idempotency keys',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldIdempotencyKeys,
    },
    {
      name: 'deleting old tests of gateways',
      pauseMs: hourMs,
      runsOn: 'one node',
      run: deleteOldTests,
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
  ]
}

const moveTask = ({ services, log }: Core, { bundleFolder: folder, bundles }: Resources): ScheduledTask => ({
  name: 'moving log bundles into the database',
  pauseMs: 60_000,
  runsOn: 'every node',
  run: (signal) => moveOldBundles(services, { folder, rows: bundles.storage, log }, signal),
})
