// Carries out the plan of an import, and says what became of each row.
import { applyPlan, type StepOutcome } from '../apply/apply-plan.ts'
import type { Client } from '../client/client.ts'
import { groupBy } from '../contract/group-by.ts'
import type { Id } from '../plan/things.ts'
import type { Fate, ImportPlan, RowFate } from './row-fates.ts'

/** `failed`: the server refused it. `notApplied`: it was not tried, because something before it failed or the import was stopped. */
export type RowResult = Fate | 'failed' | 'notApplied'

export interface ImportedRow extends Omit<RowFate, 'fate'> {
  readonly result: RowResult
  /** The answers of the server to the steps for the thing itself. */
  readonly answers: readonly unknown[]
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of steps that are done or have failed. */
  readonly onProgress?: (done: number) => void
  /** Returns the value of a variable that the file names. */
  readonly secretOf?: (name: string) => string
}

export async function runImport(
  client: Client,
  { plan, rows }: ImportPlan,
  options: RunOptions,
): Promise<ImportedRow[]> {
  const { signal, onProgress = () => {}, secretOf = noSecret } = options
  let done = 0
  const outcomes = await applyPlan(client, plan, { signal, secretOf, onOutcome: () => onProgress(++done) })
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.step.number, outcome]))
  return rows.map((row) => importedRow(row, outcomeOf))
}

function noSecret(name: string): never {
  throw new Error(`The variable ${name} is not set.`)
}

function importedRow({ fate, ...row }: RowFate, outcomeOf: ReadonlyMap<number, StepOutcome>): ImportedRow {
  const found = row.steps.flatMap((number) => outcomeOf.get(number) ?? [])
  const notDone = found.find(({ state }) => state === 'failed') ?? found.find(({ state }) => state === 'stopped')
  if (notDone && notDone.state !== 'done') {
    const result = notDone.state === 'failed' ? 'failed' : 'notApplied'
    return { ...row, result, notes: [notDone.reason], answers: [] }
  }
  const own = found.flatMap((outcome) =>
    outcome.state === 'done' && outcome.step.pointer === row.pointer ? [outcome] : [],
  )
  const id: Id | undefined = row.id ?? own[0]?.id
  return { ...row, ...(id !== undefined && { id }), result: fate, answers: own.map(({ answer }) => answer) }
}

export const countsOf = (rows: readonly ImportedRow[]): Readonly<Partial<Record<RowResult, number>>> =>
  Object.fromEntries([...groupBy(rows, ({ result }) => result)].map(([result, found]) => [result, found.length]))

export const isDone = (result: RowResult): boolean => ['created', 'changed', 'unchanged'].includes(result)

/** The text of a row in the answer to an import, such as `failed: The name is taken.` */
export const resultText = ({ result, notes }: Pick<ImportedRow, 'result' | 'notes'>): string =>
  isDone(result) ? result : `${result === 'notApplied' ? 'not applied' : result}: ${notes.join(' ')}`
