// Carries out the plan of an import, and says what became of each row.
import { applyPlan, type StepOutcome } from '../apply/apply-plan.ts'
import type { Client } from '../client/client.ts'
import type { Id } from '../plan/things.ts'
import type { Fate, ImportPlan, RowFate } from './row-fates.ts'

/** `failed`: the server refused it. `left`: it was not tried, because something before it failed or the import was stopped. */
export type RowResult = Fate | 'failed' | 'left'

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
  const outcomes = new Map<number, StepOutcome>()
  const { signal, onProgress = () => {}, secretOf = noSecret } = options
  let broken: string | undefined
  try {
    await applyPlan(client, plan, {
      signal,
      secretOf,
      onOutcome: (outcome) => {
        outcomes.set(outcome.step.number, outcome)
        onProgress(outcomes.size)
      },
    })
  } catch (error) {
    // The connection is gone, for example. What was done until then is in the outcomes.
    if (outcomes.size === 0) throw error
    broken = error instanceof Error ? error.message : String(error)
  }
  return rows.map((row) => importedRow(row, outcomes, broken ?? 'It was not tried.'))
}

function noSecret(name: string): never {
  throw new Error(`The variable ${name} is not set.`)
}

function importedRow(
  { fate, ...row }: RowFate,
  outcomes: ReadonlyMap<number, StepOutcome>,
  whyLeft: string,
): ImportedRow {
  const found = row.steps.map((number) => outcomes.get(number))
  const failed = found.find((outcome) => outcome?.state === 'failed')
  if (failed?.state === 'failed') return { ...row, result: 'failed', notes: [failed.reason], answers: [] }
  const stopped = found.find((outcome) => outcome?.state !== 'done')
  if (found.length > 0 && found.some((outcome) => outcome?.state !== 'done')) {
    const reason = stopped?.state === 'stopped' ? stopped.reason : whyLeft
    return { ...row, result: 'left', notes: [reason], answers: [] }
  }
  const own = found.flatMap((outcome) =>
    outcome?.state === 'done' && outcome.step.pointer === row.pointer ? [outcome] : [],
  )
  const id: Id | undefined = row.id ?? own[0]?.id
  return { ...row, ...(id !== undefined && { id }), result: fate, answers: own.map(({ answer }) => answer) }
}

export const countsOf = (rows: readonly ImportedRow[]): Readonly<Partial<Record<RowResult, number>>> =>
  Object.fromEntries(
    Map.groupBy(rows, ({ result }) => result)
      .entries()
      .map(([result, found]) => [result, found.length]),
  )
