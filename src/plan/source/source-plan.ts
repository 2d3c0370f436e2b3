// Plans what a source's regions, locations, rooms and profiles would make or change here, and which links are missing.
import type { LinkedKind, SourceStructure } from '../../contract/fleet/sources.ts'
import { makePlan } from '../make-plan.ts'
import type { Change, OrganisationPlan } from '../plan.ts'
import type { Snapshot } from '../things.ts'
import { type LeftOutThing, sourceDocument } from './source-document.ts'

export interface SourcePlanRow {
  readonly kind: LinkedKind
  readonly theirId: string
  readonly pointer: string
  /** The names on the path to it, its own at the end. */
  readonly path: readonly string[]
  /** `linked`: the thing here has the same name at the same place, and only the link is written. */
  readonly fate: 'created' | 'linked' | 'changed'
  /** The thing here; absent if it is made. */
  readonly id?: number
  /** Whether a link has to be written. */
  readonly needsLink: boolean
  readonly changes: readonly Change[]
  /** Numbers of its steps. */
  readonly steps: readonly number[]
}

export interface SourcePlan {
  readonly plan: OrganisationPlan
  /** The differences, in the order of the document. */
  readonly rows: readonly SourcePlanRow[]
  readonly leftOut: readonly LeftOutThing[]
  /** How many things are linked and equal. */
  readonly equalCount: number
}

export function planSource(structure: SourceStructure, snapshot: Snapshot): SourcePlan {
  const { document, entries, leftOut } = sourceDocument(structure, snapshot)
  const plan = makePlan(document, snapshot)
  const fates = new Map(plan.entries.map((fate) => [fate.pointer, fate]))
  const stepOf = new Map(plan.steps.map((step) => [step.number, step]))
  const rows = entries.flatMap(({ pointer, kind, theirId, name, match }): SourcePlanRow[] => {
    const fate = fates.get(pointer)
    if (!fate) return []
    const steps = fate.steps.flatMap((number) => stepOf.get(number) ?? [])
    if (match === 'linked' && steps.length === 0) return []
    const [step] = steps
    return [
      {
        kind,
        theirId,
        pointer,
        path: step?.path ?? [name],
        fate: fate.fate === 'created' ? 'created' : steps.length > 0 ? 'changed' : 'linked',
        ...(fate.id !== undefined && { id: fate.id as number }),
        needsLink: match !== 'linked',
        changes: steps.flatMap(({ changes }) => changes),
        steps: fate.steps,
      },
    ]
  })
  return { plan, rows, leftOut, equalCount: entries.length - rows.length }
}

/** The plan with the chosen rows only. A step needs the steps that make its place, so these are chosen too. */
export function chosenSteps({ plan, rows }: SourcePlan, isChosen: (row: SourcePlanRow) => boolean): OrganisationPlan {
  const stepOf = new Map(plan.steps.map((step) => [step.number, step]))
  const numbers = new Set<number>()
  const add = (number: number) => {
    if (numbers.has(number)) return
    numbers.add(number)
    for (const needed of stepOf.get(number)?.dependsOn ?? []) add(needed)
  }
  for (const row of rows) if (isChosen(row)) for (const number of row.steps) add(number)
  return { ...plan, steps: plan.steps.filter(({ number }) => numbers.has(number)) }
}
