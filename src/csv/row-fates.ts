// What becomes of each row of a file: created, changed, unchanged, or wrong with a reason.
import type { Change, Plan, Step } from '../plan/plan.ts'
import type { Id } from '../plan/things.ts'
import type { CsvImport } from './csv-import.ts'
import { type Mistake, mistakeText } from './mistakes.ts'

export type Fate = 'created' | 'changed' | 'unchanged' | 'wrong'

export interface RowFate {
  readonly row: number
  readonly fate: Fate
  /** From the region to the room. */
  readonly names: readonly string[]
  /** The thing that the row names, if it exists. */
  readonly id?: Id
  /** Of the thing itself, and of the region and location that the row names first. */
  readonly changes: readonly RowChange[]
  /** The steps for the thing, and those for its region and location. */
  readonly steps: readonly number[]
  /** Sentences, for a row that is wrong. */
  readonly reasons: readonly string[]
}

export interface RowChange extends Change {
  /** Absent if the change is one of the thing that the row names. */
  readonly of?: 'region' | 'location'
}

/** Without a plan, when the rows have mistakes, all that is known are the wrong rows. */
export function rowFates(file: CsvImport, plan: Plan): RowFate[] {
  const stepsByNumber = new Map(plan.steps.map((step) => [step.number, step]))
  const entries = new Map(plan.entries.map((entry) => [entry.pointer, entry]))
  const firstEntries = Map.groupBy(file.rowOfPointer, ([, row]) => row)
  return file.rows.map(({ number: row, pointer, names }) => {
    const own = entries.get(pointer)
    const parents = (firstEntries.get(row) ?? []).flatMap(([at]) => (at === pointer ? [] : (entries.get(at) ?? [])))
    const stepsOf = (numbers: readonly number[] = []) => numbers.flatMap((number) => stepsByNumber.get(number) ?? [])
    const changes = [
      ...parents.flatMap(({ kind, steps }) => stepsOf(steps).flatMap((step) => changesOf(step, kind as 'region'))),
      ...stepsOf(own?.steps).flatMap((step) => changesOf(step)),
    ]
    return {
      row,
      fate: own?.fate === 'unchanged' && changes.length > 0 ? 'changed' : (own?.fate ?? 'unchanged'),
      names,
      ...(own?.id !== undefined && { id: own.id }),
      changes,
      steps: [...parents.flatMap(({ steps }) => steps), ...(own?.steps ?? [])],
      reasons: [],
    }
  })
}

const changesOf = ({ changes, kind, operation, path }: Step, of?: 'region' | 'location'): RowChange[] => {
  if (of === undefined) return [...changes]
  // A region or location that is made is one change, whatever values it gets.
  if (operation.endsWith('Create')) return [{ field: kind, to: path.at(-1) ?? '', of }]
  return changes.map((change) => ({ ...change, of }))
}

/** The mistakes in the rows, by row. Those of the plan name entries, whose first row is the place. */
export function wrongRows({ mistakes, rowOfPointer }: CsvImport, { problems }: Pick<Plan, 'problems'>): RowFate[] {
  const found: readonly Mistake[] = [
    ...mistakes,
    ...problems.map(({ pointer, message }) => {
      const row = rowAt(rowOfPointer, pointer)
      return { ...(row !== undefined && { row }), reason: message }
    }),
  ]
  return [...Map.groupBy(found, ({ row }) => row ?? 1)]
    .toSorted(([a], [b]) => a - b)
    .map(([row, inRow]) => ({
      row,
      fate: 'wrong',
      names: [],
      changes: [],
      steps: [],
      reasons: inRow.map((mistake) => mistakeText(mistake)),
    }))
}

/** A problem can be one of a value inside an entry. */
function rowAt(rowOfPointer: ReadonlyMap<string, number>, pointer: string): number | undefined {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const row = rowOfPointer.get(at)
    if (row !== undefined) return row
  }
  return undefined
}
