// Checks after a run of all tests that every statement returned or changed a row on SQLite and on PostgreSQL, and that every branch on the
// engine was taken on both. `node tools/statement-gate.ts FOLDER` does so for notes that were collected with STATEMENT_NOTES=FOLDER.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineName } from '../src/server/db/engine.ts'
import { observeStatements } from '../src/server/db/statement-observer.ts'
import { engineBranchesIn } from '../test/support/statements/engine-branches.ts'
import { ObservedStatements } from '../test/support/statements/observed-statements.ts'
import type { StatementNote } from '../test/support/statements/statement-log.ts'

const root = join(import.meta.dirname, '..')
const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const satisfies Record<EngineName, string>

/** The name of each statement and of each branch, and the engine if it exists on one only. */
type Declarations = ReadonlyMap<string, EngineName | undefined>

/** Loads all stores, because a store that no test loads would declare nothing. */
export async function declaredInProgram(): Promise<Declarations> {
  const observed = new ObservedStatements()
  observeStatements(observed)
  const files = globSync('src/server/**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => ({ path: join(root, path), text: readFileSync(join(root, path), 'utf8') }))
  for (const { path, text } of files) if (declares.test(text)) await import(path)
  const branches = files.flatMap(({ path, text }) => engineBranchesIn(path, text))
  return new Map([...observed.declarations, ...branches.map((name) => [name, undefined] as const)])
}
const declares = /from '[^']*\/(queries\/(query|query-numbers|insert-many|variants)|system|statement-observer)\.ts'/

export function readNotes(folder: string): StatementNote[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line))
}

/** One sentence for each statement or branch that a test is missing for. */
export function findUnproved(declared: Declarations, notes: readonly StatementNote[]): string[] {
  return (Object.keys(engines) as EngineName[]).flatMap((engine) => {
    const withRows = new Set(notes.flatMap((note) => note.withRows[engine]))
    // A name that differs between the two would make every statement of its file look unproved.
    const unknown = [...withRows].filter((name) => !declared.has(name)).map((name) => `No store declares ${name}.`)
    const missing = [...declared].filter(([name, onlyOn]) => onlyOn !== otherThan(engine) && !withRows.has(name))
    return [...unknown, ...missing.map(([name]) => sentenceFor(engine, name))]
  })
}
const otherThan = (engine: EngineName): EngineName => (engine === 'sqlite' ? 'postgres' : 'sqlite')

function sentenceFor(engine: EngineName, name: string): string {
  if (name.startsWith('branch ')) return `No test takes the ${name} on ${engines[engine]}.`
  return `No test lets the statement ${exportAt(name)} return or change a row on ${engines[engine]}.`
}

/** Adds the name of the constant: `listSubjects in incidents/store.ts:111`. */
function exportAt(name: string): string {
  const [, file = '', line = '0'] = /^(\S+):(\d+)/.exec(name) ?? []
  const lines = readFileSync(join(root, 'src/server', file), 'utf8')
    .split('\n')
    .slice(0, Number(line))
  const declaration = lines.findLast((text) => /^(export )?(const|function) /.test(text))
  const [, constant = 'statement'] = /(?:const|function) (\w+)/.exec(declaration ?? '') ?? []
  return `${constant} in ${name}`
}

const [, script, folder] = process.argv
if (script === import.meta.filename) {
  if (!folder) throw new Error('Name the folder of the notes: node tools/statement-gate.ts FOLDER')
  const unproved = findUnproved(await declaredInProgram(), readNotes(folder))
  process.stdout.write(unproved.map((sentence) => `${sentence}\n`).join(''))
  process.stdout.write(`${unproved.length} missing\n`)
  process.exit(unproved.length > 0 ? 1 : 0)
}
