// `npm run bench:compare -- COMMIT [NAME …] [--rounds N]`: quick benches of another commit and of this checkout in turns. For each row it
// prints the median of the pairs: this checkout divided by the other commit. It reads the tables that both print, so the commit can be old.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Cleanup } from './cleanup.ts'
import { ratioByRound, summarise } from './measure/figures.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '9' } },
})
const [commit, ...names] = positionals
if (commit === undefined) {
  process.stdout.write('Name a commit: npm run bench:compare -- COMMIT [NAME …] [--rounds N]\n')
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const here = join(import.meta.dirname, '..')
const cleanup = new Cleanup()
const other = join(cleanup.tempFolder(), 'checkout')
const git = (...args: string[]) => execFileSync('git', args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })

/** The figures of a row, one for each round. */
type Rounds = Map<string, number[]>

/** Runs the benches of a checkout once, and adds the figure of each row. */
function measure(folder: string, rounds: Rounds): void {
  const args = ['bench/bench.ts', ...names, '--quick']
  const text = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
  for (const [title, figure] of tableRows(text)) rounds.set(title, [...(rounds.get(title) ?? []), figure])
}

/** The first two columns of the printed tables: the title without the size of an answer, which a commit can change, and the median of ours. */
function* tableRows(text: string): Generator<[title: string, figure: number]> {
  for (const line of text.split('\n')) {
    const [title = '', ours = ''] = line.split(/ {2,}/)
    const figure = /^([\d.,]+) \(/.exec(ours)?.[1]
    if (figure !== undefined) yield [title.replace(/ \([\d.]+ MiB\)/, ''), Number(figure.replaceAll(',', ''))]
  }
}

try {
  git('worktree', 'add', '--detach', other, commit)
  symlinkSync(join(here, 'node_modules'), join(other, 'node_modules'))
  const [before, after]: [Rounds, Rounds] = [new Map(), new Map()]
  for (let round = 1; round <= Number(values.rounds); round++) {
    // Which of the two comes first changes, because the machine may become slower or faster meanwhile.
    const turns: [string, Rounds][] = [
      [other, before],
      [here, after],
    ]
    for (const [folder, rounds] of round % 2 === 1 ? turns : turns.toReversed()) measure(folder, rounds)
    process.stdout.write(`round ${round} of ${values.rounds}\n`)
  }
  for (const [title, figures] of after) {
    const old = before.get(title)
    if (old?.length !== figures.length) continue
    const { median, min, max } = ratioByRound(figures, old)
    const medians = `${summarise(old).median} → ${summarise(figures).median}`
    process.stdout.write(`${median.toFixed(3)} (${min.toFixed(2)}–${max.toFixed(2)})  ${title}: ${medians}\n`)
  }
} finally {
  git('worktree', 'remove', '--force', other)
  await cleanup.run()
}
