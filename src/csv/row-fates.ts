// Plans an import: what becomes of each row of a file, and the steps that carry it out.
import { groupBy } from '../contract/group-by.ts'
import { makePlan } from '../plan/make-plan.ts'
import type { Change, OrganisationPlan, OrganisationStep, Problem, ShownValue } from '../plan/plan.ts'
import type { Id, Kind, Snapshot } from '../plan/things.ts'
import type { CsvImport } from './csv-import.ts'
import { type Mistake, mistakeText, refuseFormulas } from './mistakes.ts'

export const fates = ['wrong', 'created', 'changed', 'unchanged'] as const
export type Fate = (typeof fates)[number]

export interface RowFate {
  readonly row: number
  readonly fate: Fate
  /** From the region to the room. */
  readonly names: readonly string[]
  /** The entry of the document, and what it is; absent if the row is wrong. */
  readonly pointer?: string
  readonly kind?: Kind
  /** The thing that the row names, if it exists. */
  readonly id?: Id
  readonly changes: readonly RowChange[]
  /** Numbers of the steps for the thing, and for the region and location that the row is the first to name. */
  readonly steps: readonly number[]
  /** Sentences: why the row is wrong, or what a person may have meant otherwise. */
  readonly notes: readonly string[]
}

export interface RowChange extends Change {
  /** Absent if the thing itself changes. */
  readonly of?: 'region' | 'location'
}

export interface ImportPlan {
  /** Has no steps if a row is wrong: a file is applied as a whole. */
  readonly plan: OrganisationPlan
  /** In the order of the file. */
  readonly rows: readonly RowFate[]
  readonly counts: Readonly<Record<Fate, number>>
}

/** Throws a `CsvError` if the file has a formula. */
export function planImport(
  file: CsvImport,
  snapshot: Snapshot,
  options: { readonly setSecrets?: boolean } = {},
): ImportPlan {
  const findPlace = (pointer: string) => {
    const { row } = entryAt(file, pointer)
    return row === undefined ? undefined : { line: row }
  }
  const plan = makePlan(file.document, snapshot, { findPlace, ...options })
  const wrong = wrongRows(file, plan.problems)
  const rows = [...wrong.values(), ...plannedRows(file, plan).filter(({ row }) => !wrong.has(row))].toSorted(
    (a, b) => a.row - b.row,
  )
  return {
    plan: wrong.size > 0 ? { ...plan, steps: [] } : plan,
    rows,
    counts: Object.fromEntries(fates.map((fate) => [fate, rows.filter((row) => row.fate === fate).length])) as Record<
      Fate,
      number
    >,
  }
}

function plannedRows({ rows, rowOfPointer }: CsvImport, { steps, entries, hints }: OrganisationPlan): RowFate[] {
  const stepOf = new Map(steps.map((step) => [step.number, step]))
  const entryOf = new Map(entries.map((entry) => [entry.pointer, entry]))
  const namedFirst = groupBy(rowOfPointer, ([, row]) => row)
  const hintsOf = groupBy(hints, ({ pointer }) => pointer)
  return rows.map(({ number: row, pointer, names }) => {
    const own = entryOf.get(pointer)
    const around = (namedFirst.get(row) ?? []).flatMap(([at]) => (at === pointer ? [] : (entryOf.get(at) ?? [])))
    const numbers = [...around.flatMap((entry) => entry.steps), ...(own?.steps ?? [])]
    const changes = numbers.flatMap((number) => {
      const step = stepOf.get(number)
      return step ? changesOf(step, pointer) : []
    })
    return {
      row,
      fate: own?.fate === 'created' ? 'created' : changes.length > 0 ? 'changed' : 'unchanged',
      names,
      pointer,
      ...(own && { kind: own.kind }),
      ...(own?.id !== undefined && { id: own.id }),
      changes,
      steps: numbers,
      notes: (hintsOf.get(pointer) ?? []).map(({ message }) => message),
    }
  })
}

function changesOf({ changes, kind, operation, path, pointer }: OrganisationStep, own: string): readonly RowChange[] {
  if (pointer === own) return changes
  const of = kind as 'region' | 'location'
  // A region or location that is made is one change, whatever its values are.
  if (operation.endsWith('Create')) return [{ field: 'name', to: path.at(-1) ?? '', of }]
  return changes.map((change) => ({ ...change, of }))
}

/** The plan names entries, whose first row is the place. What concerns the whole file is at its header. */
function wrongRows(file: CsvImport, problems: readonly Problem[]): Map<number, RowFate> {
  const mistakes: readonly Mistake[] = [
    ...file.mistakes,
    ...problems.map(({ pointer, message }) => {
      const { row = 1, at } = entryAt(file, pointer)
      return { row, ...file.placeOfValue(at, pointer.slice(at.length + 1)), reason: message }
    }),
  ].toSorted((a, b) => (a.row ?? 1) - (b.row ?? 1))
  refuseFormulas(mistakes)
  const namesOf = new Map(file.rows.map(({ number, names }) => [number, names]))
  return new Map(
    [...groupBy(mistakes, ({ row = 1 }) => row)].map(([row, found]) => [
      row,
      { row, fate: 'wrong', names: namesOf.get(row) ?? [], changes: [], steps: [], notes: found.map(mistakeText) },
    ]),
  )
}

/** A problem can be one of a value inside an entry. */
function entryAt({ rowOfPointer }: CsvImport, pointer: string): { readonly row?: number; readonly at: string } {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const row = rowOfPointer.get(at)
    if (row !== undefined) return { row, at }
  }
  return { at: pointer }
}

/** Such as `capacity: 8 → 12`. */
export function rowChangeText({ field, from, to, of }: RowChange): string {
  const [before, after] = [valueText(from), valueText(to)]
  if (of !== undefined && field === 'name' && from === undefined) return `new ${of} ${after}`
  const name = of === undefined ? field : `${field} of the ${of}`
  if (before === '') return `${name}: ${after}`
  return `${name}: ${before} → ${after === '' ? 'none' : after}`
}

const valueText = (value: ShownValue | undefined): string => {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(valueText).join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
