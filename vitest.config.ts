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
  'src/server/channels/delivery/hanging.http.test.ts',
  'src/server/incidents/engine/quick-run.http.test.ts',
  'src/server/jobs/engine/run-cost.http.test.ts',
  'test/console/*.test.ts',
  'test/contract/mcp-fleet.process.test.ts',
  'test/contract/walk-requests.http.test.ts',
  'test/contract/monitoring-adapter.http.test.ts',
  'test/deploy/proxies.process.test.ts',
  'test/deploy/service.process.test.ts',
  'test/devices/client-libraries.process.test.ts',
  'test/devices/message-refused.http.test.ts',
  'test/devices/proxy-protocol.http.test.ts',
  'test/devices/{mqtt5,mqtt5-ends,mqtt-protocol}.test.ts',
  'test/devices/refusal-log.http.test.ts',
  'test/docs/readme.process.test.ts',
  'test/http/health-port.process.test.ts',
  'test/events/command-on-sqlite.process.test.ts',
  'test/events/documented-example.browser.test.ts',
  'test/http/limits.http.test.ts',
  'test/http/localhost.http.test.ts',
  'test/http/malformed.http.test.ts',
  'test/http/methods.http.test.ts',
  'test/http/overload.process.test.ts',
  'test/http/pipeline.http.test.ts',
  'test/http/release.process.test.ts',
  'test/http/slow.http.test.ts',
  'test/http/static-files.http.test.ts',
  'test/http/unread.http.test.ts',
  'test/http/worst-bodies.http.test.ts',
  'test/process/certificate.process.test.ts',
  'test/packages/*.test.ts',
  'test/process/config-file.process.test.ts',
  'test/process/hostile-clients.process.test.ts',
  'test/process/cli-help.process.test.ts',
  'test/process/demo.process.test.ts',
  'test/process/refusals.process.test.ts',
  'test/process/secret-key.process.test.ts',
  'test/process/login-link.process.test.ts',
  'test/devices/bad-clients.http.test.ts',
  'test/devices/bad-messages.http.test.ts',
  'test/devices/ingest-budget.http.test.ts',
  'test/events/slow-readers.process.test.ts',
  'test/process/simulate.process.test.ts',
  'test/process/version.process.test.ts',
]

/** These suites use SQLite and PostgreSQL together, or need several nodes. */
const onPostgresOnly = [
  'src/server/nodes/strict-reads/{random-reads,strict-reads}.test.ts',
  'test/nodes/*.test.ts',
  'test/process/nodes/*.test.ts',
  'test/process/postgres/command-events.http.test.ts',
  'test/process/postgres/balancer.process.test.ts',
  'test/database/postgres/equal-rows.http.test.ts',
  'test/process/postgres/copied-source.process.test.ts',
  'test/process/postgres/copy.process.test.ts',
  'test/process/postgres/device-outage.http.test.ts',
  'test/process/postgres/forgotten-sqlite.process.test.ts',
  'test/process/postgres/postgres-tools.process.test.ts',
  'test/process/postgres/starts-together.process.test.ts',
]
/** These measure how soon things happen, so they run after all others, with the machine to themselves. */
const aloneOnSqlite = ['src/server/incidents/engine/delay.http.test.ts']
const alone = ['test/process/nodes/trial.process.test.ts', ...aloneOnSqlite]

/** These behaviour suites also run against three nodes, each request at the next one; `npm run test:long` does so with all of them. */
const onThreeNodes = [
  'src/server/fleet/{regions,rooms}/*.test.ts',
  'src/server/channels/delivery/{delivery,outage,holding/first-attempt,holding/holding,holding/silenced-messages.db}.test.ts',
  'src/server/incidents/engine/{engine,observations/flapping}.test.ts',
  'test/contract/journey.http.test.ts',
  'test/events/region-access.http.test.ts',
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
