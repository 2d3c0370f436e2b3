// Behaviour tests run on SQLite and on a real PostgreSQL. Suites whose subject cannot differ by database run once.
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { noteEngineBranches } from './test/support/statements/engine-branches.ts'

const all = ['src/**/*.test.ts', 'test/**/*.test.ts']

/** These suites have no database in them at all. */
const withoutDatabase = [
  'test/house/*.test.ts',
  'src/console/**/*.test.ts',
  'src/contract/*.test.ts',
  'src/server/core/**/*.test.ts',
  'src/server/bus/*.test.ts',
  'src/cli/doctor/storage.test.ts',
  'src/server/config/*.test.ts',
  'src/server/http/{input,limits}/*.test.ts',
  'src/server/events/ring.test.ts',
  'src/server/nodes/liveness.test.ts',
  'src/server/outbound/*.test.ts',
  'src/server/nodes/strict-reads/{last-commits,heard-commits,written-message}.test.ts',
  'src/server/fleet/connections/availability.test.ts',
  'src/server/journal/outbox/message-size.test.ts',
  'src/server/incidents/{texts,engine/findings,engine/grouping/*,engine/restarts/settle}.test.ts',
  'src/server/channels/delivery/{slots,holding/courses,holding/timing,senders/texts}.test.ts',
  'src/server/jobs/engine/{health/judge-health,rollback/job-changes}.test.ts',
  'src/server/sensors/{view,latest/aggregate}.test.ts',
  'src/server/fleet/rooms/use/judge.test.ts',
  'src/server/jobs/engine/{advance,turns}.test.ts',
  'src/server/jobs/engine/effects/pair-groups.test.ts',
  'src/server/jobs/units/units.test.ts',
  'src/server/incidents/silences/in-force.test.ts',
  'src/server/people/sessions/browser-name.test.ts',
  'src/server/people/sign-in/oidc/*.test.ts',
  'src/simulator/*.test.ts',
  'test/devices/agent-wire.test.ts',
  'test/devices/frame-guard.test.ts',
  'test/contract/clients.test.ts',
  'test/docs/capacity.test.ts',
  'test/docs/documented-requests.test.ts',
  'test/events/several-nodes.test.ts',
  'test/nodes/tools/*.test.ts',
]

/** These suites run a service, but their subject (the browser, HTTP, files, options) is the same on both databases. */
const onSqliteOnly = [
  'src/server/channels/delivery/hanging.test.ts',
  'src/server/incidents/engine/quick-run.test.ts',
  'src/server/jobs/engine/run-cost.test.ts',
  'test/console/*.test.ts',
  'test/contract/mcp-fleet.test.ts',
  'test/contract/walk-requests.test.ts',
  'test/contract/monitoring-adapter.test.ts',
  'test/deploy/proxies.test.ts',
  'test/deploy/service.test.ts',
  'test/devices/client-libraries.test.ts',
  'test/devices/message-refused.test.ts',
  'test/devices/proxy-protocol.test.ts',
  'test/devices/{mqtt5,mqtt5-ends,mqtt-protocol}.test.ts',
  'test/devices/refusal-log.test.ts',
  'test/docs/readme.test.ts',
  'test/http/health-port.test.ts',
  'test/events/command-on-sqlite.test.ts',
  'test/events/documented-example.test.ts',
  'test/http/limits.test.ts',
  'test/http/localhost.test.ts',
  'test/http/malformed.test.ts',
  'test/http/methods.test.ts',
  'test/http/overload.test.ts',
  'test/http/pipeline.test.ts',
  'test/http/release.test.ts',
  'test/http/slow.test.ts',
  'test/http/static-files.test.ts',
  'test/http/unread.test.ts',
  'test/http/worst-bodies.test.ts',
  'test/process/certificate.test.ts',
  'test/packages/*.test.ts',
  'test/process/config-file.test.ts',
  'test/process/hostile-clients.test.ts',
  'test/process/cli-help.test.ts',
  'test/process/demo.test.ts',
  'test/process/refusals.test.ts',
  'test/process/secret-key.test.ts',
  'test/process/login-link.test.ts',
  'test/devices/bad-clients.test.ts',
  'test/devices/bad-messages.test.ts',
  'test/devices/ingest-budget.test.ts',
  'test/events/slow-readers.test.ts',
  'test/process/simulate.test.ts',
  'test/process/version.test.ts',
]

/** These suites use SQLite and PostgreSQL together, or need several nodes. */
const onPostgresOnly = [
  'src/server/nodes/strict-reads/{random-reads,strict-reads}.test.ts',
  'test/nodes/*.test.ts',
  'test/process/nodes/*.test.ts',
  'test/events/command-events.test.ts',
  'test/deploy/balancer.test.ts',
  'test/database/equal-rows.test.ts',
  'test/process/database/copied-source.test.ts',
  'test/process/database/copy.test.ts',
  'test/process/database/device-outage.test.ts',
  'test/process/database/forgotten-sqlite.test.ts',
  'test/process/database/postgres-tools.test.ts',
  'test/process/database/starts-together.test.ts',
]
/** These measure how soon things happen, so they run after all others, with the machine to themselves. */
const aloneOnSqlite = ['src/server/incidents/engine/delay.test.ts']
const alone = ['test/process/nodes/trial.test.ts', ...aloneOnSqlite]

/** These behaviour suites also run against three nodes, each request at the next one; `npm run test:long` does so with all of them. */
const onThreeNodes = [
  'src/server/fleet/{regions,rooms}/*.test.ts',
  'src/server/channels/delivery/{delivery,outage,holding/first-attempt,holding/holding,holding/silenced-messages.db}.test.ts',
  'src/server/incidents/engine/{engine,observations/flapping}.test.ts',
  'test/contract/journey.test.ts',
  'test/events/region-access.test.ts',
]

/** These run with `npm run test:long`, by a configuration of their own. */
const long = ['test/long/**/*.test.ts']

const sqliteSetup = ['./test/support/setup/builds.ts', './test/support/database/sqlite-tables.ts']

const postgresSetup = [
  './test/support/setup/builds.ts',
  './test/support/database/postgres-cluster.ts',
  './test/support/database/postgres-tables.ts',
]

export default defineConfig({
  plugins: [noteEngineBranches],
  test: {
    reporters: [['default', { summary: false }]],
    // Many tests wait for timers or processes, so twice as many workers as the usual two cores are quicker.
    maxWorkers: 4,
    // Every file starts services of its own on databases of its own; loading the program again for each file took 1 to 2 s of CPU.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    globalSetup: './test/support/setup/builds.ts',
    setupFiles: './test/support/statements/statement-log.ts',
    projects: [
      { extends: true, test: { name: 'house', include: withoutDatabase } },
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: all,
          exclude: [...withoutDatabase, ...onPostgresOnly, ...alone, ...long],
          env: { TEST_ENGINE: 'sqlite' },
          globalSetup: sqliteSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: all,
          exclude: [...withoutDatabase, ...onSqliteOnly, ...alone, ...long],
          env: { TEST_ENGINE: 'postgres' },
          globalSetup: postgresSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          include: onThreeNodes,
          env: { TEST_ENGINE: 'postgres', TEST_NODES: '3' },
          globalSetup: postgresSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          env: { TEST_ENGINE: 'postgres' },
          globalSetup: postgresSetup,
          sequence: { groupOrder: 1 },
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone-sqlite',
          include: aloneOnSqlite,
          env: { TEST_ENGINE: 'sqlite' },
          globalSetup: sqliteSetup,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
        },
      },
    ],
    // These end what would never end. They are long, because on a busy machine everything takes several times as long.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
