// Carries out the plan of a source: makes and changes things here, and links each to the one at the source that it belongs to.
import { ApiError, type Client } from '../client/client.ts'
import { maxLinksPerRequest } from '../contract/fleet/sources.ts'
import { maxIdempotencyKeyLength } from '../contract/idempotency.ts'
import type { OrganisationStep } from '../plan/plan.ts'
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
    onOutcome: () => onProgress(++done),
    idempotencyKeyOf: (step) => keyOf(sourceId, rowOf.get(step.pointer ?? '')),
    onCreated: async (step, id) => {
      const row = rowOf.get(step.pointer ?? '')
      if (!row) return 'kept'
      try {
        await link([{ row, id: id as number }])
        return 'kept'
      } catch (error) {
        if (await isGone(client, step, id as number, error)) return 'gone'
        throw error
      }
    },
  })
  const outcomeOf = new Map(outcomes.map((outcome) => [outcome.step.number, outcome]))
  return rows.map((row) => resultOf(row, outcomeOf))
}

/** A second attempt after a lost answer makes nothing twice. */
function keyOf(sourceId: string, row: SourcePlanRow | undefined): string | undefined {
  if (!row) return undefined
  const key = `${sourceId}/${row.kind}/${encodeURIComponent(row.theirId)}`
  return key.length <= maxIdempotencyKeyLength - 24 ? key : undefined
}

/** The answer can be that of a thing which was made hours ago, and deleted since. */
async function isGone(client: Client, { kind }: OrganisationStep, id: number, error: unknown): Promise<boolean> {
  if (!(error instanceof ApiError)) return false
  const read = {
    region: () => client.regionsGet({ id }),
    location: () => client.locationsGet({ id }),
    room: () => client.roomsGet({ id }),
    profile: () => client.profilesGet({ id }),
  }[kind as SourcePlanRow['kind']]
  return read().then(
    () => false,
    (cause) => cause instanceof ApiError && cause.status === 404,
  )
}

function resultOf(row: SourcePlanRow, outcomeOf: ReadonlyMap<number, StepOutcome>): SourceRowResult {
  const found = row.steps.flatMap((number) => outcomeOf.get(number) ?? [])
  const notDone = found.find(({ state }) => state === 'failed') ?? found.find(({ state }) => state === 'stopped')
  if (!notDone || notDone.state === 'done') return { row, state: 'done' }
  return { row, state: notDone.state, reason: notDone.reason }
}
