// Runs the endurance tests in their long form, on both databases: `npm run test:long`. They want a quiet machine and about an hour.
import { defineConfig } from 'vitest/config'

const include = ['test/long/*.test.ts']
const consoleBuild = './test/support/console/console-build.ts'

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], './test/support/summary-reporter.ts'],
    // One at a time: each measures times and memory.
    maxWorkers: 1,
    fileParallelism: false,
    globalSetup: consoleBuild,
    projects: [
      { extends: true, test: { name: 'sqlite', include, env: { TEST_ENGINE: 'sqlite' } } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include,
          env: { TEST_ENGINE: 'postgres' },
          globalSetup: [
            consoleBuild,
            './test/support/database/postgres-cluster.ts',
            './test/support/database/postgres-tables.ts',
          ],
        },
      },
    ],
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
  },
})
