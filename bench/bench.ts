// `npm run bench [-- NAME] [--quick] [--profile]`: runs the benches, prints their tables and stores the results.
import { parseArgs } from 'node:util'
import { type BenchName, benchNames } from './bench-names.ts'
import { bulk } from './benches/bulk.ts'
import { connect } from './benches/connect.ts'
import { events } from './benches/events.ts'
import { growth } from './benches/growth.ts'
import { history } from './benches/history.ts'
import { ingest } from './benches/ingest.ts'
import { lists } from './benches/lists.ts'
import { messages } from './benches/messages.ts'
import { nodes } from './benches/nodes.ts'
import { people } from './benches/people.ts'
import { postgres } from './benches/postgres.ts'
import { rates } from './benches/rates.ts'
import { reads } from './benches/reads.ts'
import { reboot } from './benches/reboot.ts'
import { rollups } from './benches/rollups.ts'
import { start } from './benches/start.ts'
import { store } from './benches/store.ts'
import { writes } from './benches/writes.ts'
import { Cleanup } from './cleanup.ts'
import { CpuProfiles } from './measure/cpu-profile.ts'
import type { Bench } from './options.ts'
import { deleteResults, storeResult } from './report/results.ts'
import { terminalTable } from './report/terminal-table.ts'

const benches: Readonly<Record<BenchName, Bench>> = {
  reads,
  people,
  lists,
  writes,
  ingest,
  messages,
  connect,
  reboot,
  store,
  bulk,
  history,
  start,
  growth,
  events,
  postgres,
  rates,
  rollups,
  nodes,
}

const print = (text: string) => void process.stdout.write(`${text}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false } },
})
const isBench = (name: string): name is BenchName => Object.hasOwn(benches, name)
const unknown = positionals.filter((name) => !isBench(name))
if (unknown.length > 0) {
  print(`No such bench: ${unknown.join(', ')}. Choose from ${benchNames.join(', ')}.`)
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const startedAt = performance.now()
const secondsSince = (time: number) => Math.round((performance.now() - time) / 1000)
const isFullRun = positionals.length === 0
const isStored = !values.quick && !values.profile
// A full run starts from nothing, so that no result of an earlier run remains for a bench that fails.
if (isFullRun && isStored) deleteResults()

for (const name of isFullRun ? benchNames : positionals.filter(isBench)) {
  print(`\n${name}${values.quick ? ', quick' : ''} …`)
  const benchStartedAt = performance.now()
  const cleanup = new Cleanup()
  const profiles = new CpuProfiles(values.profile ? cleanup.tempFolder() : undefined)
  try {
    const rows = await benches[name]({ quick: values.quick, profiles, cleanup })
    print(`\n${terminalTable(rows)}\n\n${secondsSince(benchStartedAt)} s`)
    if (values.profile) print(profiles.report())
    if (isStored) storeResult(name, rows)
  } catch (error) {
    // The remaining benches are still run.
    print(`\n${name} failed: ${error instanceof Error ? error.stack : error}`)
    process.exitCode = 1
  } finally {
    await cleanup.run()
  }
}
print(`\nThe run took ${secondsSince(startedAt)} s.`)
