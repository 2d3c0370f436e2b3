// Preloaded into a server with --import: counts the statements that SQLite runs, prints the count on SIGUSR2 and starts again.
import Database from 'better-sqlite3'

let count = 0

const { prototype } = new Database(':memory:').prepare('SELECT 1').constructor
for (const name of ['all', 'get', 'run', 'iterate'] as const) {
  const original = prototype[name]
  prototype[name] = function (...values: unknown[]) {
    count++
    return original.apply(this, values)
  }
}

process.on('SIGUSR2', () => {
  process.stderr.write(`statements ${count}\n`)
  count = 0
})
