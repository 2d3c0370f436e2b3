// Phase 2 of a start: the objects of the resources that live as long as the process, caches above all.
import { join } from 'node:path'
import { bundleQuotaDefaultGb } from '../config/options.ts'
import { watchFleet } from '../core/fleet-metrics.ts'
import { FolderStorage } from '../resources/bug-reports/bundles/folder-storage.ts'
import { RowStorage } from '../resources/bug-reports/bundles/row-storage.ts'
import type { BugReportSettings } from '../resources/bug-reports/routes.ts'
import { BundleUploads } from '../resources/bug-reports/upload.ts'
import { EndpointCache } from '../resources/endpoints/endpoint-cache.ts'
import { FleetCounts } from '../resources/rooms/fleet-counts.ts'
import { SampleIntake } from '../resources/sensors/ingest/intake.ts'
import { LatestSamples } from '../resources/sensors/latest/cache.ts'
import { Horizon } from '../resources/sensors/rollups/horizon.ts'
import { SampleDeletion } from '../resources/sensors/rollups/sample-deletion.ts'
import type { Core } from './core.ts'

export interface Resources {
  readonly endpoints: EndpointCache
  readonly latest: LatestSamples
  readonly intake: SampleIntake
  readonly sampleDeletion: SampleDeletion
  readonly horizon: Horizon
  readonly bundles: BugReportSettings
  /** The folder of bundles: on PostgreSQL it may have some of version 0.1. */
  readonly bundleFolder: FolderStorage
  readonly uploads: BundleUploads
}

export async function makeResources({ services, sharedSettings, metrics, caches, options }: Core): Promise<Resources> {
  const { db } = services
  const endpoints = new EndpointCache(services)
  const latest = new LatestSamples(services)
  caches.add(endpoints, latest)
  const horizon = await Horizon.load(db)
  const intake = new SampleIntake(services, latest, horizon)
  metrics.watchCount('roomkeeper_samples_stored_total', 'Samples that were written.', () => intake.stored)
  metrics.watchCount('roomkeeper_samples_refused_total', 'Samples that were refused.', () => intake.refused)
  watchFleet(metrics.registry, new FleetCounts(db, services.clock).current)
  const bundleFolder = new FolderStorage(db, join(options.dataDir, 'bundles'))
  const storage = db.engine === 'sqlite' ? bundleFolder : new RowStorage(db, bundleFolder)
  const quotaBytes = (options.bundleQuota ?? bundleQuotaDefaultGb) * 1e9
  const bundles = {
    storage,
    get retentionDays() {
      return sharedSettings.values.logRetention
    },
  }
  return {
    endpoints,
    latest,
    intake,
    sampleDeletion: new SampleDeletion(horizon),
    horizon,
    bundles,
    bundleFolder,
    uploads: new BundleUploads(services, storage, quotaBytes),
  }
}
