// Carries out a plan through the operations of the API: each thing is read again, compared with what the plan saw, and then written.
import { ApiError, type Client } from '../client/client.ts'
import { WaitEnded } from '../client/waiting-fetch.ts'
import { groupBy } from '../contract/group-by.ts'
import { canonical, isEnvSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import { changesConfig, type OrganisationPlan, type OrganisationStep } from '../plan/plan.ts'
import type { Id, Kind, Values } from '../plan/things.ts'
import { createOnce, idIn } from './create-once.ts'
import { mapInParallel } from './parallel.ts'
import { type FreshThing, readAgain, sendStep } from './requests.ts'
import { isTarget } from './step-target.ts'

export type StepOutcome =
  | { readonly step: OrganisationStep; readonly state: 'done'; readonly id: Id; readonly answer: unknown }
  /** `failed`: the step was tried. `stopped`: it was not, because of another step, of the rights of the caller, or of an interruption. */
  | { readonly step: OrganisationStep; readonly state: 'failed' | 'stopped'; readonly reason: string }

export interface ApplyOptions {
  /** Returns the value of a variable that the document names. */
  readonly secretOf: (name: string) => string
  readonly onOutcome?: (outcome: StepOutcome) => void
  /** The origin of the plan, such as a source. Steps of two origins make two things, even if they look the same. */
  readonly origin?: string
  /** Called after a step has made a thing, as a part of the step. */
  readonly onCreated?: (step: OrganisationStep, id: Id) => Promise<void>
  /** Ends the work after the requests that are under way. Give it to the `waitingFetch` of the client too. */
  readonly signal?: AbortSignal | undefined
}

interface StepOptions extends ApplyOptions {
  /** Whether an entry of the document means the thing with this id, of the kind of the step, or an earlier step has made it. */
  readonly isKnown: (id: Id) => boolean
}

/** The client waits when the server asks for it. Returns one outcome for each step, in the order of the steps. */
export async function applyPlan(
  client: Client,
  { steps, entries }: OrganisationPlan,
  options: ApplyOptions,
): Promise<StepOutcome[]> {
  const outcomes = new Map<number, StepOutcome>()
  const created = new Map<string, Id>()
  const known = new Set(entries.flatMap(({ kind, id }) => (id === undefined ? [] : `${kind} ${id}`)))
  const isKnown = (kind: Kind) => (id: Id) => known.has(`${kind} ${id}`)
  /** After an error that is not an answer of the server, nothing else is tried. */
  let endedBy: string | undefined
  const run = async (step: OrganisationStep): Promise<void> => {
    if (options.signal?.aborted) endedBy ??= 'Interrupted.'
    const outcome: StepOutcome = endedBy
      ? { step, state: 'stopped', reason: endedBy }
      : await outcomeOf(client, step, outcomes, created, { ...options, isKnown: isKnown(step.kind) }).catch(
          (error: Error) => {
            endedBy = error.message
            return { step, state: error instanceof WaitEnded ? 'stopped' : 'failed', reason: error.message }
          },
        )
    outcomes.set(step.number, outcome)
    if (outcome.state === 'done' && step.id === undefined) {
      created.set(step.pointer, outcome.id)
      known.add(`${step.kind} ${outcome.id}`)
    }
    options.onOutcome?.(outcome)
  }
  for (const wave of groupBy(steps, ({ rank }) => rank).values()) await mapInParallel(wave, run)
  return steps.map(({ number }) => outcomes.get(number) as StepOutcome)
}

async function outcomeOf(
  client: Client,
  step: OrganisationStep,
  outcomes: ReadonlyMap<number, StepOutcome>,
  created: ReadonlyMap<string, Id>,
  options: StepOptions,
): Promise<StepOutcome> {
  const stopped = (reason: string): StepOutcome => ({ step, state: 'stopped', reason })
  if (step.forbidden !== undefined) return stopped(step.forbidden)
  const missing = step.dependsOn.find((number) => outcomes.get(number)?.state !== 'done')
  if (missing !== undefined) return stopped(`Step ${missing} was not done.`)
  try {
    const answer = await write(client, step, created, options)
    const id = step.id ?? idIn(answer)
    if (step.id === undefined) await options.onCreated?.(step, id)
    return { step, state: 'done', id, answer }
  } catch (error) {
    if (error instanceof ApiError || error instanceof Difference)
      return { step, state: 'failed', reason: error.message }
    throw error
  }
}

/** The thing is not what the plan saw. */
class Difference extends Error {}

/** Another writer can come between reading and writing. */
const maxAttempts = 3

async function write(
  client: Client,
  step: OrganisationStep,
  created: ReadonlyMap<string, Id>,
  { secretOf, origin, isKnown }: StepOptions,
): Promise<unknown> {
  if (step.id === undefined) return createOnce(client, step, { created, secretOf, origin, isKnown })
  for (let attempt = 1; ; attempt++) {
    const thing = await readAgain(client, step)
    if (isDone(step, thing, created)) return undefined
    checkUnchanged(step, thing)
    try {
      return (await sendStep(client, step, { created, secretOf, ifMatch: thing?.etag })).body
    } catch (error) {
      const isOvertaken = error instanceof ApiError && error.body?.code === 'ABORTED'
      if (!isOvertaken || attempt === maxAttempts) throw error
    }
  }
}

/**
 * The service can carry out the last request of an interrupted run after the next plan was made. What the step asks for is there then,
 * and sending it again would fail, or write a second audit entry.
 */
function isDone(step: OrganisationStep, thing: FreshThing | undefined, created: ReadonlyMap<string, Id>): boolean {
  const isDeletion = kindTable[step.kind].delete === step.operation
  return isDeletion ? thing === undefined : thing !== undefined && isTarget(step, thing.values, created)
}

function checkUnchanged(step: OrganisationStep, thing: FreshThing | undefined): asserts thing {
  const { noun } = kindTable[step.kind]
  if (!thing) throw new Difference(`The ${noun} ${step.id} was deleted since the plan was made. Make a new plan.`)
  const field = comparedFields(step).find((name) => plain(step.before, name) !== plain(thing.values, name))
  if (field !== undefined) {
    throw new Difference(`The ${field} of the ${noun} was changed since the plan was made. Make a new plan.`)
  }
  if (changesEndpoints(step) && (thing.endpointCount ?? 0) > (step.endpointCount ?? 0)) {
    const what = step.kind === 'profile' ? 'A device got the profile' : `A device was enrolled in the ${noun}`
    throw new Difference(`${what} since the plan was made. Make a new plan.`)
  }
}

/** Such a step says how many endpoints it changes or unenrols: more than a person has seen are not touched. */
const changesEndpoints = (step: OrganisationStep): boolean =>
  changesConfig(step) || ['roomsDelete', 'roomsAssignProfile', 'gatewayDevicesDelete'].includes(step.operation)

/** A room has two steps: the profile is written by one, and the other fields by the other. */
function comparedFields({ kind, operation }: OrganisationStep): string[] {
  const fields = Object.keys(kindTable[kind].fields)
  if (operation === 'roomsAssignProfile') return ['profile']
  return operation === 'roomsUpdate' ? fields.filter((field) => field !== 'profile') : fields
}

/** The text of a field without secrets, which the API does not show each time. */
function plain(values: Values, field: string): string {
  const value = values[field] ?? null
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return canonical(value)
  return canonical(Object.fromEntries(Object.entries(value).filter(([, item]) => !isEnvSecret(item))))
}
