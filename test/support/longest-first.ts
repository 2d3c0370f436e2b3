// Starts long test files first, so that at the end of a run no worker is left with one of them while the others have nothing to do.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take more than 15 seconds. Without results of an earlier run Vitest sorts by size, and some of these are short. */
const longFiles = [
  'src/server/channels/deliveries.test.ts',
  'src/server/incidents/engine/restarts/restarts.test.ts',
  'test/console/device.test.ts',
  'test/console/journey.test.ts',
  'test/console/live.test.ts',
  'test/console/pages.test.ts',
  'test/console/prefix.test.ts',
  'test/console/recovery.test.ts',
  'test/contract/subset.test.ts',
  'test/contract/walk-regions.test.ts',
  'test/contract/walk-requests.test.ts',
  'test/contract/walk-roles.test.ts',
  'test/contract/walk.test.ts',
  'test/deploy/proxies.test.ts',
  'test/devices/connections.test.ts',
  'test/devices/enrol.test.ts',
  'test/devices/ingest-budget.test.ts',
  'test/devices/room-days.test.ts',
  'test/docs/readme.test.ts',
  'test/events/events.test.ts',
  'test/http/health-port.test.ts',
  'test/http/overload.test.ts',
  'test/http/slow.test.ts',
  'test/http/unread.test.ts',
  'test/http/worst-bodies.test.ts',
  'test/nodes/certificates.test.ts',
  'test/nodes/devices.test.ts',
  'test/nodes/starting.test.ts',
  'test/packages/packages.test.ts',
  'test/process/certificate.test.ts',
  'test/process/database/backup-live.test.ts',
  'test/process/database/backup.test.ts',
  'test/process/database/copy.test.ts',
  'test/process/database/device-outage.test.ts',
  'test/process/database/postgres-lost.test.ts',
  'test/process/database/postgres-outage.test.ts',
  'test/process/database/starts-together.test.ts',
  'test/process/demo.test.ts',
  'test/process/device-process.test.ts',
  'test/process/doctor.test.ts',
  'test/process/hostile-clients.test.ts',
  'test/process/ingest-crash.test.ts',
  'test/process/ingest-disk-full.test.ts',
  'test/process/job-kills.test.ts',
  'test/process/nodes/death.test.ts',
  'test/process/nodes/freeze.test.ts',
  'test/process/nodes/situations-kill.test.ts',
  'test/process/nodes/situations-messages.test.ts',
  'test/process/nodes/situations-outage.test.ts',
  'test/process/nodes/situations-pause.test.ts',
  'test/process/refusals.test.ts',
  'test/process/shutdown.test.ts',
  'test/process/simulate.test.ts',
  'test/process/start.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId, project }: TestSpecification) =>
      longFiles.includes(relative(project.config.root, moduleId))
    // A worker that changes to another project loads the program again, so projects stay together.
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...byProject.values()].flatMap((specs) => [
      ...specs.filter(isLong),
      ...specs.filter((spec) => !isLong(spec)),
    ])
  }
}
