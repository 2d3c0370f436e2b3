// Carries out the plan of a source: makes and changes things here, and links each to the one at the source that it belongs to.
import type { Client } from '../client/client.ts'
import { maxLinksPerRequest } from '../contract/fleet/sources.ts'
import { chosenSteps, type SourcePlan, type SourcePlanRow } from '../plan/source/source-plan.ts'
import { applyPlan, type StepOutcome } from './apply-plan.ts'

export interface SourceRowResult {
  readonly row: SourcePlanRow
  readonly state: StepOutcome['state']
  readonly reason?: string
}

export interface ApplySourceOptions {
  readonly isChosen: (row: SourcePlanRow) => boolean
  readonly signal?: AbortSignal | undefined
  /** Called with the number of steps that are done or have failed. */
  readonly onProgress?: (done: number) => void
}

/** A step that failed has no link, and is in the next plan again. */
export async function applySourcePlan(
  client: Client,
  sourceId: string,
  planned: SourcePlan,
  { isChosen, signal, onProgress = () => {} }: ApplySourceOptions,
): Promise<SourceRowResult[]> {
  const plan = chosenSteps(planned, isChosen)
  const numbers = new Set(plan.steps.map(({ number }) => number))
  const rows = planned.rows.filter((row) => isChosen(row) || row.steps.some((number) => numbers.has(number)))
  const rowOf = new Map(rows.map((row) => [row.pointer, row]))
  const link = (links: readonly { readonly row: SourcePlanRow; readonly id: number }[]) =>
    client.sourcesLink({
      id: sourceId,
      body: { links: links.map(({ row: { kind, theirId }, id }) => ({ kind, theirId, linkedId: id })) },
    })
  // Things that exist are linked first, so their changes belong to something that is linked.
  const known = rows.flatMap((row) => (row.needsLink && row.id !== undefined ? [{ row, id: row.id }] : []))
  for (let i = 0; i < known.length; i += maxLinksPerRequest) await link(known.slice(i, i + maxLinksPerRequest))

  let done = 0
  const outcomes = await applyPlan(client, plan, {
    secretOf: (name) => {
      throw new Error(`A source has no secrets, such as ${name}.`)
    },
    signal,
    origin: sourceId,
    onOutcome: () => onProgress(++done),
    onCreated: async (step, id) => {
      const row = rowOf.get(step.pointer)
      if (row) await link([{ row, id: id as number }])
    },
  })
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.step.number, outcome]))
  return rows.map((row) => resultOf(row, outcomeOf))
}

function resultOf(row: SourcePlanRow, outcomeOf: ReadonlyMap<number, StepOutcome>): SourceRowResult {
  const found = row.steps.flatMap((number) => outcomeOf.get(number) ?? [])
  const notDone = found.find(({ state }) => state === 'failed') ?? found.find(({ state }) => state === 'stopped')
  if (!notDone || notDone.state === 'done') return { row, state: 'done' }
  return { row, state: notDone.state, reason: notDone.reason }
}
