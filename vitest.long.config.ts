// Runs the long form of the tests that have one, most of them on both databases: `npm run test:long`. They need a quiet machine and about seven hours: two for the memory of a quiet server, and three for sources.
import { defineConfig } from 'vitest/config'

const include = [
  'test/long/*.test.ts',
  // These have a short and a long form in one file.
  'src/apply/*.http.test.ts',
  'src/cli/csv/*.http.test.ts',
  'src/cli/plan/plan.process.test.ts',
  'src/server/core/time/change-window.test.ts',
  'src/server/fleet/commands/deferred/many-deferred.http.test.ts',
  'src/server/jobs/engine/{run-cost,thousand-rooms,ticks}.*.test.ts',
  'src/server/jobs/huge-jobs.http.test.ts',
  'src/server/reports/generated-months.http.test.ts',
  'src/server/reports/availability/generated.http.test.ts',
  'src/server/sensors/history/history-{property,year}.http.test.ts',
  'test/contract/{property,subset}.*.test.ts',
  'test/gateway/{kills,sources}.process.test.ts',
  'test/gateway/sources/{mirror.http,mirror-kills.process}.test.ts',
  'test/process/crashes/{idempotency,recurring}-kills.process.test.ts',
]
/** These check all pages and dialogs in dark too; they run on SQLite only, as in `npm test`. */
const inBrowser = ['test/console/{incidents-axe,jobs,overview,pages,people-axe}.browser.test.ts']
/** These are about the memory of one process. */
const onSqliteOnly = ['test/long/sqlite/*.test.ts', 'test/gateway/many-devices.process.test.ts']
/** These have no database in them. */
const withoutDatabase = [
  'src/cli/plan/read-file.test.ts',
  'src/gateway/sources/mqtt/many-sensors.test.ts',
  'src/gateway/sources/neat-pulse/config-changes.test.ts',
  'src/plan/generated.test.ts',
  'test/events/several-nodes.test.ts',
]
/** These need PostgreSQL, and start one of their own. */
const ofNodes = ['test/long/nodes/*.test.ts', 'test/process/nodes/situations-messages.process.test.ts']
/** The suites that also run against three nodes, where each request goes to the next node. */
const onThreeNodes = [
  'src/{apply,cli/plan}/*.http.test.ts',
  'src/server/{channels,fleet,incidents,jobs,journal,people,sensors}/**/*.{db,http,process}.test.ts',
  'test/{contract,devices,events,http,sign-in}/*.{db,http,process}.test.ts',
]
/** These are left out: they test one process (its memory, limits, timers, statements, or the bytes of one connection), start their own processes, or need no server. */
const notOnThreeNodes = [
  'src/server/fleet/endpoints/presence.http.test.ts',
  'src/server/incidents/engine/{delay,quick-run}.*.test.ts',
  'src/server/jobs/engine/run-cost.http.test.ts',
  'src/server/sensors/latest/room-plan.*.test.ts',
  'test/http/{health-port,limits,metrics,overload,release,slow,unread,worst-bodies,largest-bodies}.*.test.ts',
  'test/contract/{mcp-fleet,monitoring-adapter}.*.test.ts',
  'test/devices/{bad-clients,bad-messages,ingest-budget,proxy-protocol,mqtt5-ends,refusal-log,stop}.*.test.ts',
  'test/events/{command-on-sqlite,slow-readers}.*.test.ts',
]
const builds = './test/support/setup/builds.ts'

const sqliteSetup = [builds, './test/support/database/sqlite-tables.ts']

const postgresSetup = [
  builds,
  './test/support/database/postgres-cluster.ts',
  './test/support/database/postgres-tables.ts',
]

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }]],
    // One at a time: each measures times and memory.
    maxWorkers: 1,
    fileParallelism: false,
    globalSetup: builds,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: [...include, ...inBrowser, ...onSqliteOnly, ...withoutDatabase],
          env: { TEST_ENGINE: 'sqlite', TEST_LONG: '1' },
          globalSetup: sqliteSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...include, ...ofNodes],
          env: { TEST_ENGINE: 'postgres', TEST_LONG: '1' },
          globalSetup: postgresSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          include: onThreeNodes,
          exclude: notOnThreeNodes,
          // Not the long form of each suite: that is for one node, with the machine to itself.
          env: { TEST_ENGINE: 'postgres', TEST_NODES: '3' },
          globalSetup: postgresSetup,
        },
      },
    ],
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
  },
})
