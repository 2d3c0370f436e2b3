// Phase 2 of a start: the objects of the resources that live as long as the process, caches above all.
import { join } from 'node:path'
import { watchFleet } from '../core/fleet-metrics.ts'
import type { BugReportSettings } from '../resources/bug-reports/routes.ts'
import { BundleUploads } from '../resources/bug-reports/upload.ts'
import { EndpointCache } from '../resources/endpoints/endpoint-cache.ts'
import { FleetCounts } from '../resources/rooms/fleet-counts.ts'
import { SampleIntake } from '../resources/sensors/ingest/intake.ts'
import { LatestSamples } from '../resources/sensors/latest/cache.ts'
import { Horizon } from '../resources/sensors/rollups/horizon.ts'
import { RollupTask } from '../resources/sensors/rollups/task.ts'
import type { Core } from './core.ts'

export interface Resources {
  readonly endpoints: EndpointCache
  readonly latest: LatestSamples
  readonly intake: SampleIntake
  readonly rollups: RollupTask
  readonly bundles: BugReportSettings
  readonly uploads: BundleUploads
}

export async function makeResources({ services, metrics, caches, options }: Core): Promise<Resources> {
  const { db } = services
  const endpoints = new EndpointCache(services)
  const latest = new LatestSamples(services)
  caches.add(endpoints, latest)
  const horizon = await Horizon.load(db)
  const intake = new SampleIntake(services, latest, horizon)
  metrics.watchCount('roomkeeper_samples_stored_total', 'Samples that were written.', () => intake.stored)
  metrics.watchCount('roomkeeper_samples_refused_total', 'Samples that were refused.', () => intake.refused)
  watchFleet(metrics.registry, new FleetCounts(db, services.clock).current)
  const bundles = { folder: join(options.dataDir, 'bundles'), retentionDays: options.logRetention }
  return {
    endpoints,
    latest,
    intake,
    rollups: new RollupTask(services, horizon),
    bundles,
    uploads: new BundleUploads(services, bundles.folder),
  }
}
