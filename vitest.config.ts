// Every behaviour test runs twice: on SQLite and on a real PostgreSQL. House rules run once, and so do the console's own sums and what
// ends before it reaches a database.
import { defineConfig } from 'vitest/config'

const behaviour = ['src/**/*.test.ts', 'test/*.test.ts']
/** The database has no part in these: reading a body is the subject. */
const onSqliteOnly = ['test/worst-bodies.test.ts']
const once = ['test/house/*.test.ts', 'src/console/**/*.test.ts']

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], './test/last-line.ts'],
    maxWorkers: 2,
    // Every file starts services of its own on databases of its own; loading the program anew for each took 1 to 2 s of CPU a file.
    isolate: false,
    globalSetup: './test/console-build.ts',
    projects: [
      { extends: true, test: { name: 'house', include: once } },
      { extends: true, test: { name: 'sqlite', include: behaviour, exclude: once, env: { TEST_ENGINE: 'sqlite' } } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: behaviour,
          exclude: [...once, ...onSqliteOnly],
          env: { TEST_ENGINE: 'postgres' },
          globalSetup: ['./test/console-build.ts', './test/postgres.ts', './test/postgres-tables.ts'],
        },
      },
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
