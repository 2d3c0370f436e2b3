// The name of a suite says what it needs: x.test.ts nothing, x.db.test.ts a database, x.http.test.ts a service, x.process.test.ts
// the program as a process, x.browser.test.ts a browser. Statements, transactions, outages and crashes are proved on both databases,
// and behaviour on SQLite; `npm run test:full` proves it on PostgreSQL too.
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { isFullForm } from './test/support/long-form.ts'
import { SlowKindsFirst } from './test/support/slow-kinds-first.ts'

const suites = (kinds: string) => `{src,test}/**/*.${kinds}.test.ts`

/** These load files of JSX, which Node alone cannot. They need no database. */
const ofConsole = 'src/console/**/*.test.ts'
/** These run with `npm run test:long`, by a configuration of their own. */
const long = 'test/long/**'
/** In folders with these names are suites of several nodes, and of what only PostgreSQL has. */
const onPostgresOnly = '{src,test}/**/{nodes,postgres}/**/*.{http,process}.test.ts'
const onBoth = [suites('db'), 'test/process/{crashes,database}/*.test.ts']
/**
 * These behaviour suites also run against three nodes, each request at the next one; `npm run test:long` does so with all of them.
 * The short form has one suite of each kind: records, presence, tests through gateways, deliveries, incidents, jobs, and a journey
 * through all of it. `test/nodes` and `test/process/nodes` have what is about several nodes, such as events.
 */
const onThreeNodes = [
  'src/server/fleet/regions/*.{db,http}.test.ts',
  'src/server/fleet/endpoints/states.db.test.ts',
  'src/server/fleet/gateways/tests.http.test.ts',
  'src/server/channels/delivery/holding/first-attempt.*.test.ts',
  'src/server/incidents/engine/observations/flapping.*.test.ts',
  'src/server/jobs/recurring/*.db.test.ts',
  'test/contract/journey.*.test.ts',
  ...(isFullForm
    ? [
        'src/apply/*.http.test.ts',
        'src/server/fleet/sources/presence.db.test.ts',
        'src/server/fleet/{gateways,rooms}/*.{db,http}.test.ts',
        'src/server/channels/delivery/{delivery,outage,holding/holding,holding/silenced-messages}.*.test.ts',
        'src/server/incidents/engine/engine.*.test.ts',
        'test/events/region-access.*.test.ts',
      ]
    : []),
]

const builds = './test/support/setup/builds.ts'
const onPostgres = {
  env: { TEST_ENGINE: 'postgres' },
  globalSetup: [builds, './test/support/database/postgres-cluster.ts', './test/support/database/postgres-tables.ts'],
}

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }]],
    // Many tests wait for timers or processes: with four workers a quarter of two cores was idle. Each takes up to 1 GB with its browser.
    maxWorkers: totalmem() >= 10 * 2 ** 30 ? 6 : 4,
    // Every file starts services of its own on databases of its own; loading the program again for each file took 1 to 2 s of CPU.
    isolate: false,
    // Node itself loads the modules, as in production. With Vite's runner the workers load for three times as long, and the code is slower.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: [
      // Fewer collections of young objects, which took a twentieth of the CPU.
      '--max-semi-space-size=32',
      '--import',
      join(import.meta.dirname, 'test/support/statements/engine-branches-hook.ts'),
    ],
    sequence: { sequencer: SlowKindsFirst },
    globalSetup: builds,
    setupFiles: ['./test/support/statements/statement-log.ts', './test/support/setup/suite-costs.ts'],
    exclude: [...configDefaults.exclude, long],
    projects: [
      {
        extends: true,
        test: {
          // Suites that need no database are here too: workers that change to another project load the program again.
          name: 'sqlite',
          include: ['{src,test}/**/*.test.ts'],
          exclude: [onPostgresOnly, ofConsole, long],
          env: { TEST_ENGINE: 'sqlite' },
          globalSetup: [builds, './test/support/database/sqlite-tables.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'console', include: [ofConsole], experimental: { viteModuleRunner: true } },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...onBoth, onPostgresOnly, ...(isFullForm ? [suites('{http,process}')] : [])],
          exclude: [long],
          ...onPostgres,
        },
      },
      {
        extends: true,
        test: { name: 'nodes', include: onThreeNodes, ...onPostgres, env: { ...onPostgres.env, TEST_NODES: '3' } },
      },
    ],
    // These end what would never end. They are long, because on a busy machine everything takes several times as long.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
