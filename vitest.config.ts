// Every behaviour test runs twice: on SQLite and on a real PostgreSQL. House rules run once.
import { defineConfig } from 'vitest/config'

const behaviour = ['src/**/*.test.ts', 'test/*.test.ts']

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], './test/last-line.ts'],
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'house', include: ['test/house/*.test.ts'] } },
      { extends: true, test: { name: 'sqlite', include: behaviour, env: { TEST_ENGINE: 'sqlite' } } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: behaviour,
          env: { TEST_ENGINE: 'postgres' },
          globalSetup: './test/postgres.ts',
        },
      },
    ],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
