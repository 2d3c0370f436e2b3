// Starts long test files first, so that at the end of a run no worker is left with one of them while the others have nothing to do.
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take more than 15 seconds. Without results of an earlier run Vitest sorts by size, and some of these are short. */
const longFiles = [
  'src/server/channels/deliveries.http.test.ts',
  'src/server/incidents/engine/restarts/restarts.http.test.ts',
  'test/console/device.browser.test.ts',
  'test/console/journey.browser.test.ts',
  'test/console/live.browser.test.ts',
  'test/console/pages.browser.test.ts',
  'test/console/prefix.browser.test.ts',
  'test/console/recovery.browser.test.ts',
  'test/contract/subset.http.test.ts',
  'test/contract/walk-regions.http.test.ts',
  'test/contract/walk-requests.http.test.ts',
  'test/contract/walk-roles.http.test.ts',
  'test/contract/walk.http.test.ts',
  'test/deploy/proxies.process.test.ts',
  'test/devices/connections.http.test.ts',
  'test/devices/enrol.http.test.ts',
  'test/devices/ingest-budget.http.test.ts',
  'test/devices/room-days.http.test.ts',
  'test/docs/readme.process.test.ts',
  'test/events/events.http.test.ts',
  'test/http/health-port.process.test.ts',
  'test/http/overload.process.test.ts',
  'test/http/slow.http.test.ts',
  'test/http/unread.http.test.ts',
  'test/http/worst-bodies.http.test.ts',
  'test/nodes/certificates.http.test.ts',
  'test/nodes/devices.http.test.ts',
  'test/nodes/starting.process.test.ts',
  'test/packages/packages.browser.test.ts',
  'test/process/certificate.process.test.ts',
  'test/process/database/backup-live.process.test.ts',
  'test/process/database/backup.process.test.ts',
  'test/process/postgres/copy.process.test.ts',
  'test/process/postgres/device-outage.http.test.ts',
  'test/process/database/postgres-lost.process.test.ts',
  'test/process/database/postgres-outage.process.test.ts',
  'test/process/postgres/starts-together.process.test.ts',
  'test/process/demo.process.test.ts',
  'test/process/device.process.test.ts',
  'test/process/doctor.process.test.ts',
  'test/process/hostile-clients.process.test.ts',
  'test/process/crashes/ingest-crash.process.test.ts',
  'test/process/crashes/ingest-disk-full.http.test.ts',
  'test/process/crashes/job-kills.process.test.ts',
  'test/process/nodes/death.process.test.ts',
  'test/process/nodes/freeze.process.test.ts',
  'test/process/nodes/situations-kill.process.test.ts',
  'test/process/nodes/situations-messages.process.test.ts',
  'test/process/nodes/situations-outage.process.test.ts',
  'test/process/nodes/situations-pause.process.test.ts',
  'test/process/refusals.process.test.ts',
  'test/process/shutdown.process.test.ts',
  'test/process/simulate.process.test.ts',
  'test/process/start.process.test.ts',
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
