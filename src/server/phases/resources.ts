// Phase 2 of a start: creates the objects of the resources that live as long as the process, mostly caches, and deletes expired bug reports.
// The phase has nothing to stop.
import { join } from 'node:path'
import { minuteMs } from '../../contract/durations.ts'
import { DeliveryTask } from '../channels/delivery/delivery-task.ts'
import { waitingCount } from '../channels/delivery/waiting-count.ts'
import { watchDeliveries } from '../core/metrics/delivery-metrics.ts'
import { watchFleet } from '../core/metrics/fleet-metrics.ts'
import { FolderStorage } from '../fleet/bug-reports/bundles/folder-storage.ts'
import { RowStorage } from '../fleet/bug-reports/bundles/row-storage.ts'
import { deleteOldReports, sweepBundleFolder } from '../fleet/bug-reports/retention.ts'
import type { BugReportSettings } from '../fleet/bug-reports/routes.ts'
import { BundleUploads } from '../fleet/bug-reports/upload.ts'
import { DeferredReboots } from '../fleet/commands/deferred/deferred-reboots.ts'
import { EndpointCache } from '../fleet/endpoints/endpoint-cache.ts'
import { IncidentEngine } from '../incidents/engine/engine.ts'
import { IncidentMetrics } from '../incidents/engine/metrics.ts'
import { JobEngine } from '../jobs/engine/engine.ts'
import { ReportQueue } from '../reports/turns.ts'
import { SampleIntake } from '../sensors/ingest/intake.ts'
import { LatestSampleCache } from '../sensors/latest/cache.ts'
import { Horizon } from '../sensors/rollups/horizon.ts'
import { SampleDeletion } from '../sensors/rollups/sample-deletion.ts'
import type { Core } from './core.ts'
import { fleetCounts } from './fleet-counts.ts'

export interface Resources {
  readonly endpoints: EndpointCache
  readonly latest: LatestSampleCache
  readonly intake: SampleIntake
  readonly sampleDeletion: SampleDeletion
  readonly horizon: Horizon
  readonly bundles: BugReportSettings
  /** The folder of bundles: on PostgreSQL it may have some of version 0.1. */
  readonly bundleFolder: FolderStorage
  readonly uploads: BundleUploads
  readonly deliveries: DeliveryTask
  readonly incidents: IncidentEngine
  readonly deferredReboots: DeferredReboots
  readonly jobs: JobEngine
  readonly reports: ReportQueue
}

export async function makeResources(core: Core, sampleGatherMs?: number): Promise<Resources> {
  const { services, sharedSettings, metrics, caches, options } = core
  const { db } = services
  const endpoints = new EndpointCache(services)
  const latest = new LatestSampleCache(services)
  caches.add(endpoints, latest)
  const horizon = await Horizon.load(db)
  const intake = new SampleIntake(services, latest, horizon, sampleGatherMs)
  metrics.watchCount('roomkeeper_samples_stored_total', 'Samples that were written.', () => intake.stored)
  metrics.watchCount('roomkeeper_samples_refused_total', 'Samples that were refused.', () => intake.refused)
  watchFleet(metrics.registry, fleetCounts(services).current)
  const bundleFolder = new FolderStorage(db, join(options.dataDir, 'bundles'))
  const storage = db.engine === 'sqlite' ? bundleFolder : new RowStorage(db, bundleFolder)
  const bundles = {
    storage,
    get retentionDays() {
      return sharedSettings.values.logRetentionDays
    },
  }
  // Reports that expired while the service was stopped must be gone before devices can upload. Every node deletes them, without
  // holding the task: deleting a row twice has no effect, and the folder belongs to this node.
  await deleteOldReports(services, storage)
  await sweepBundleFolder(services, bundleFolder)
  return {
    endpoints,
    latest,
    intake,
    sampleDeletion: new SampleDeletion(horizon),
    horizon,
    bundles,
    bundleFolder,
    uploads: new BundleUploads(services, storage, () => sharedSettings.values.bundleQuotaGigabytes * 1e9),
    deliveries: makeDeliveries(core),
    deferredReboots: new DeferredReboots(),
    incidents: new IncidentEngine(services, {
      settleMs: () => sharedSettings.values.settleMinutes * minuteMs,
      metrics: new IncidentMetrics(metrics.registry, db, services.clock),
    }),
    jobs: new JobEngine({
      idleMs: () => services.settings.idleMs,
      send: () => ({ logRetentionDays: sharedSettings.values.logRetentionDays }),
    }),
    reports: new ReportQueue(services.limits),
  }
}

function makeDeliveries({ services, outbound, metrics, log }: Core): DeliveryTask {
  const { mailer } = services
  const counts = watchDeliveries(metrics.registry, waitingCount(services.db, services.clock).current)
  return new DeliveryTask({ fetch: outbound.fetch, mailer }, counts, log)
}
