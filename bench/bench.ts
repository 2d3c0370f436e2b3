// `npm run bench [-- NAME] [--quick] [--profile]`: measures ours beside its limit, prints tables, keeps them in bench/results and the README.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bulk } from './benches/bulk.ts'
import { connect } from './benches/connect.ts'
import { events } from './benches/events.ts'
import { growth } from './benches/growth.ts'
import { history } from './benches/history.ts'
import { ingest } from './benches/ingest.ts'
import { lists } from './benches/lists.ts'
import { postgres } from './benches/postgres.ts'
import { reads } from './benches/reads.ts'
import { reboot } from './benches/reboot.ts'
import { start } from './benches/start.ts'
import { store } from './benches/store.ts'
import { writes } from './benches/writes.ts'
import { Ending } from './cleanup.ts'
import { Profiles } from './measure/cpu-profile.ts'
import type { Line } from './measure/figures.ts'
import { quote, withQuote } from './report/markdown-table.ts'
import { table } from './report/terminal-table.ts'

export interface BenchOptions {
  readonly quick: boolean
  /** With --profile; figures of such a run are not comparable. */
  readonly profiles: Profiles
  readonly ending: Ending
}

export type Bench = (options: BenchOptions) => Promise<Line[]>
const benches: Readonly<Record<string, Bench>> = {
  reads,
  lists,
  writes,
  ingest,
  connect,
  reboot,
  store,
  bulk,
  history,
  start,
  growth,
  events,
  postgres,
}

const results = join(import.meta.dirname, 'results/latest.json')
const readme = join(import.meta.dirname, '../README.md')
const say = (text: string) => void process.stdout.write(`${text}\n`)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, profile: { type: 'boolean', default: false } },
})
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name))
if (unknown.length > 0) {
  say(`There is no bench ${unknown.join(', ')}. There are: ${Object.keys(benches).join(', ')}.`)
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const begun = performance.now()
const seconds = (since: number) => Math.round((performance.now() - since) / 1000)
const isWhole = positionals.length === 0
const isKept = !values.quick && !values.profile
// What a whole run does not measure is not kept from another.
if (isWhole && isKept) rmSync(results, { force: true })

for (const name of isWhole ? Object.keys(benches) : positionals) {
  say(`\n${name}${values.quick ? ', quick' : ''} …`)
  const started = performance.now()
  const ending = new Ending()
  const profiles = new Profiles(values.profile ? ending.folder() : undefined)
  try {
    const lines = await (benches[name] as Bench)({ quick: values.quick, profiles, ending })
    say(`\n${table(lines)}\n\n${seconds(started)} s`)
    if (values.profile) say(profiles.top())
    if (isKept) keep(name, lines)
  } catch (error) {
    // The others can still be measured.
    say(`\n${name} failed: ${error instanceof Error ? error.stack : error}`)
    process.exitCode = 1
  } finally {
    await ending.run()
  }
}
say(`\nIt took ${seconds(begun)} s.`)

/** Of every bench the latest that was run. */
function keep(name: string, lines: readonly Line[]): void {
  const before = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {}
  const machine = {
    processor: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  }
  const entry = { at: new Date().toISOString(), node: process.version, machine, lines }
  mkdirSync(join(results, '..'), { recursive: true })
  const all = { ...before, [name]: entry }
  // In the order of the benches, whichever was run last.
  const ordered = Object.fromEntries(Object.keys(benches).flatMap((known) => (all[known] ? [[known, all[known]]] : [])))
  writeFileSync(results, `${JSON.stringify(ordered, null, 2)}\n`)
  writeFileSync(readme, withQuote(readFileSync(readme, 'utf8'), quote(ordered)))
}
