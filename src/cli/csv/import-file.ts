// Runs an import on the command line: shows the plan, asks, carries it out with progress, and writes the file back.
import type { Client } from '../../client/client.ts'
import { answerFile } from '../../csv/answer-file.ts'
import type { Sheet } from '../../csv/columns.ts'
import { CsvError } from '../../csv/mistakes.ts'
import { checkFileSize } from '../../csv/read-csv.ts'
import { type ImportPlan, type RowChange, type RowFate, rowChangeText } from '../../csv/row-fates.ts'
import { countsOf, type ImportedRow, isDone, resultText, runImport } from '../../csv/run-import.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import { CommandError } from '../terminal/command-error.ts'
import { confirmChanges } from '../terminal/confirm.ts'
import { readInputFile } from '../terminal/input-file.ts'
import { checkOutput, writeOutput } from '../terminal/output-file.ts'
import { Progress, withProgress } from '../terminal/progress.ts'
import { endSentence } from '../terminal/run-program.ts'
import { printResult, showPlan, type Terminal } from '../terminal/terminal.ts'

export interface ImportOptions extends ConnectionOptions {
  readonly output?: string
  readonly yes?: boolean
  readonly json?: boolean
  readonly allowRollout?: boolean
}

interface Planned<C extends string> {
  readonly sheet: Sheet<C>
  readonly plan: ImportPlan
  readonly secretOf?: (name: string) => string
}

/** The cells and the JSON keys that are added to a row. */
interface RowAnswer<C extends string> {
  readonly cells: Partial<Record<C, string>>
  readonly json: object
}

interface Import<C extends string> {
  readonly plan: (client: Client, bytes: Uint8Array, organisation: string) => Promise<Planned<C>>
  /** The columns that the answer fills in. */
  readonly columns: readonly C[]
  readonly answers?: (
    client: Client,
    rows: readonly ImportedRow[],
    context: { readonly organisation: string; readonly progressOf: (total: number) => Progress },
  ) => Promise<ReadonlyMap<number, RowAnswer<C>>>
}

export async function importFile<C extends string>(
  terminal: Terminal,
  file: string,
  options: ImportOptions,
  { plan, columns, answers }: Import<C | 'result'>,
): Promise<void> {
  const bytes = readFile(file)
  if (options.output !== undefined) checkOutput(options.output)
  const { client, clientUntil, connection } = connectToServer(terminal, options)
  const planned = await sentencesOf(plan(client, bytes, connection.org))
  const { rows, counts, plan: steps } = planned.plan
  const writeBack = async (
    found: readonly Pick<ImportedRow, 'row' | 'result' | 'notes'>[],
    extra?: ReadonlyMap<number, RowAnswer<C | 'result'>>,
  ) => {
    if (options.output === undefined) return
    const results = new Map(found.map((row) => [row.row, resultText(row)]))
    const text = answerFile(planned.sheet, columns, (row) => ({
      ...extra?.get(row)?.cells,
      ...({ result: results.get(row) ?? '' } as Record<C | 'result', string>),
    }))
    // An enrolment code lets its reader enrol a device.
    await writeOutput(options.output, text, { isPrivate: true })
  }

  if (counts.wrong > 0) {
    await writeBack(rows.map(({ fate, ...row }) => ({ ...row, result: fate })))
    const mistakes = rows.flatMap(({ fate, notes }) => (fate === 'wrong' ? notes : []))
    const summary = `Wrong rows: ${counts.wrong}. Correct them in the file. Nothing was changed.`
    throw new CommandError([...firstLines(mistakes), summary].join('\n'))
  }
  showPlan(terminal, planLines(rows), options)
  checkAllowed(planned.plan, options)
  const total = steps.steps.length
  if (total > 0 && !options.yes) await confirmChanges(terminal, total)

  const imported = await withProgress(terminal, { title: 'Changes', total }, (onProgress, signal) =>
    runImport(clientUntil(signal), planned.plan, {
      ...{ signal, onProgress },
      ...(planned.secretOf && { secretOf: planned.secretOf }),
    }),
  )
  const needsAnswers = options.output !== undefined || options.json
  const progressOf = (total: number) => new Progress(terminal, 'Codes', total)
  let found: ReadonlyMap<number, RowAnswer<C | 'result'>> | undefined
  let problem: Error | undefined
  try {
    if (needsAnswers) found = await answers?.(client, imported, { organisation: connection.org, progressOf })
  } catch (error) {
    problem = error as Error
  }
  await writeBack(imported, found)
  report(terminal, options, imported, found)
  if (problem) {
    throw new CommandError(
      `The changes were made, but the codes could not be read: ${endSentence(problem.message)} Run the command again to get the codes.`,
    )
  }
}

export function readFile(file: string): Uint8Array {
  try {
    return readInputFile(file, checkFileSize)
  } catch (error) {
    throw error instanceof CsvError ? new CommandError(error.message) : error
  }
}

export const sentencesOf = async <T>(reading: Promise<T>): Promise<T> =>
  reading.catch((error: unknown) => {
    throw error instanceof CsvError ? new CommandError(`${error.message}\nNothing was changed.`) : error
  })

function checkAllowed({ plan: { steps } }: ImportPlan, { allowRollout }: ImportOptions): void {
  const forbidden = new Set(steps.flatMap((step) => step.forbidden ?? []))
  if (forbidden.size > 0) throw new CommandError(`${[...forbidden].join('\n')}\nNothing was changed.`)
  const deviceCount = steps.reduce((sum, step) => sum + (step.needs === 'rollout' ? (step.endpointCount ?? 0) : 0), 0)
  if (deviceCount > 0 && !allowRollout) {
    throw new CommandError(
      `Rooms with ${deviceCount} devices would get another profile, which changes the settings of the devices. Add --allow-rollout. Nothing was changed.`,
    )
  }
}

/** A file with more problems is broken as a whole. With --output each row has its own. */
const maxShownProblems = 50

export const firstLines = (lines: readonly string[]): readonly string[] =>
  lines.length <= maxShownProblems
    ? lines
    : [...lines.slice(0, maxShownProblems), `… and ${lines.length - maxShownProblems} more.`]

const planLines = (rows: readonly RowFate[]): string[] =>
  rows.flatMap(({ row, fate, names, changes, notes }) => {
    if (fate === 'unchanged') return []
    return [`Row ${row}: ${names.join(' / ')}: ${fate}${changesText(changes)}`, ...notes.map((note) => `  ${note}`)]
  })

const changesText = (changes: readonly RowChange[]) =>
  changes.length === 0 ? '' : ` (${changes.map(rowChangeText).join('; ')})`

function report<C extends string>(
  terminal: Terminal,
  { json }: ImportOptions,
  rows: readonly ImportedRow[],
  answers: ReadonlyMap<number, RowAnswer<C>> | undefined,
): void {
  const counts = countsOf(rows)
  const failed = rows.filter(({ result }) => !isDone(result))
  const list = rows.map(({ row, names, result, id, changes, notes }) => ({
    ...{ row, names, result, id, changes, notes },
    ...answers?.get(row)?.json,
  }))
  const summary = Object.entries(counts).map(
    ([result, count]) => `${count} ${result === 'notApplied' ? 'not applied' : result}`,
  )
  printResult(terminal, json, { counts, rows: list }, [`${summary.join(', ') || 'No rows'}.`])
  if (failed.length === 0) return
  const lines = firstLines(failed.map((row) => `Row ${row.row}: ${resultText(row)}`))
  throw new CommandError(
    [...lines, `Rows that were not applied: ${failed.length}. Run the command again: it skips what is done.`].join(
      '\n',
    ),
  )
}
