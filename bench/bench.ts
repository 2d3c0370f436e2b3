// `npm run bench [-- NAME] [--quick]`: measures ours beside its limit, prints a table, writes bench/results/latest.json.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bulk } from './bulk.ts'
import { Ending } from './ending.ts'
import type { Line } from './figures.ts'
import { history } from './history.ts'
import { ingest } from './ingest.ts'
import { Profiles } from './profile.ts'
import { store } from './store.ts'
import { table } from './table.ts'

export interface BenchOptions {
  readonly quick: boolean
  /** With --profile; figures of such a run are not comparable. */
  readonly profiles: Profiles
  readonly ending: Ending
}

export type Bench = (options: BenchOptions) => Promise<Line[]>
const benches: Readonly<Record<string, Bench>> = { ingest, store, bulk, history }

const results = join(import.meta.dirname, 'results/latest.json')
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

for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
  say(`\n${name}${values.quick ? ', quick' : ''} …`)
  const started = performance.now()
  const ending = new Ending()
  const profiles = new Profiles(values.profile ? ending.folder() : undefined)
  try {
    const lines = await (benches[name] as Bench)({ quick: values.quick, profiles, ending })
    say(`\n${table(lines)}\n\n${Math.round((performance.now() - started) / 1000)} s`)
    if (values.profile) say(profiles.top())
    // A quick run does not take the place of a full one.
    else if (!values.quick) keep(name, lines)
  } finally {
    await ending.run()
  }
}

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
  writeFileSync(results, `${JSON.stringify({ ...before, [name]: entry }, null, 2)}\n`)
}
