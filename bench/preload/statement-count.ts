// Preloaded into a server with --import: how many statements SQLite has run. Told, and forgotten, on SIGUSR2.
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
