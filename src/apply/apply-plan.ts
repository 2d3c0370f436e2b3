// Carries out a plan through the operations of the API: each thing is read again, compared with what the plan saw, and then written.
import { ApiError, type Client } from '../client/client.ts'
import { canonical, isEnvSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import type { OrganisationPlan, OrganisationStep } from '../plan/plan.ts'
import type { Id, StepOperation, Values } from '../plan/things.ts'
import { createOnce, idIn } from './create-once.ts'
import { mapInParallel } from './parallel.ts'
import { type FreshThing, readAgain, sendStep } from './requests.ts'

export type StepOutcome =
  | { readonly step: OrganisationStep; readonly state: 'done'; readonly id: Id; readonly answer: unknown }
  /** `failed`: the step was tried. `stopped`: it was not, because of another step, of the rights of the caller, or of an interruption. */
  | { readonly step: OrganisationStep; readonly state: 'failed' | 'stopped'; readonly reason: string }

export interface ApplyOptions {
  /** Returns the value of a variable that the document names. */
  readonly secretOf: (name: string) => string
  readonly onOutcome?: (outcome: StepOutcome) => void
  /** The Idempotency-Key of a step that makes a thing, if it is to have a certain one. */
  readonly idempotencyKeyOf?: (step: OrganisationStep) => string | undefined
  /** Called after a step has made a thing, as a part of the step. `gone`: the thing has been deleted since, so it is made again. */
  readonly onCreated?: (step: OrganisationStep, id: Id) => Promise<'kept' | 'gone'>
  /** Ends the work after the steps that are under way. */
  readonly signal?: AbortSignal | undefined
}

/** The client waits when the server asks for it. Returns one outcome for each step, in the order of the steps. */
export async function applyPlan(
  client: Client,
  { steps }: OrganisationPlan,
  options: ApplyOptions,
): Promise<StepOutcome[]> {
  const outcomes = new Map<number, StepOutcome>()
  const created = new Map<string, Id>()
  /** After an error that is not an answer of the server, nothing else is tried. */
  let endedBy: string | undefined
  const run = async (step: OrganisationStep): Promise<void> => {
    if (options.signal?.aborted) endedBy ??= 'Interrupted.'
    const outcome: StepOutcome = endedBy
      ? { step, state: 'stopped', reason: endedBy }
      : await outcomeOf(client, step, outcomes, created, options).catch((error: Error) => {
          endedBy = error.message
          return { step, state: 'failed', reason: error.message }
        })
    outcomes.set(step.number, outcome)
    if (outcome.state === 'done' && step.id === undefined) created.set(step.pointer as string, outcome.id)
    options.onOutcome?.(outcome)
  }
  for (const wave of Map.groupBy(steps, ({ rank }) => rank).values()) await mapInParallel(wave, run)
  return steps.map(({ number }) => outcomes.get(number) as StepOutcome)
}

async function outcomeOf(
  client: Client,
  step: OrganisationStep,
  outcomes: ReadonlyMap<number, StepOutcome>,
  created: ReadonlyMap<string, Id>,
  options: ApplyOptions,
): Promise<StepOutcome> {
  const stopped = (reason: string): StepOutcome => ({ step, state: 'stopped', reason })
  if (step.forbidden !== undefined) return stopped(step.forbidden)
  const missing = step.dependsOn.find((number) => outcomes.get(number)?.state !== 'done')
  if (missing !== undefined) return stopped(`Step ${missing} was not done.`)
  try {
    const answer = await write(client, step, created, options)
    return { step, state: 'done', id: step.id ?? idIn(answer), answer }
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
  options: ApplyOptions,
): Promise<unknown> {
  const { secretOf } = options
  const sendWith = async (ifMatch: string | undefined) =>
    (await sendStep(client, step, { created, secretOf, ifMatch })).body
  if (step.id === undefined) {
    return options.idempotencyKeyOf || options.onCreated
      ? createWithKey(client, step, created, options)
      : createOnce(client, step, { created, secretOf })
  }
  for (let attempt = 1; ; attempt++) {
    const thing = await readAgain(client, step)
    checkUnchanged(step, thing)
    try {
      return await sendWith(thing?.etag)
    } catch (error) {
      const isOvertaken = error instanceof ApiError && error.body?.code === 'ABORTED'
      if (!isOvertaken || attempt === maxAttempts) throw error
    }
  }
}

/** A repeated key is answered with what was made before. If that is gone, the key for the next attempt names it. */
async function createWithKey(
  client: Client,
  step: OrganisationStep,
  created: ReadonlyMap<string, Id>,
  { secretOf, idempotencyKeyOf, onCreated }: ApplyOptions,
): Promise<unknown> {
  const key = idempotencyKeyOf?.(step)
  for (let [attempt, idempotencyKey] = [1, key]; ; attempt++) {
    const { body: answer } = await sendStep(client, step, { created, secretOf, idempotencyKey })
    const id = idIn(answer)
    const isKept = !onCreated || (await onCreated(step, id)) === 'kept'
    if (isKept || attempt === maxAttempts) return answer
    idempotencyKey = key && `${key}/after-${id}`
  }
}

function checkUnchanged(step: OrganisationStep, thing: FreshThing | undefined): asserts thing {
  const { noun } = kindTable[step.kind]
  if (!thing) throw new Difference(`The ${noun} ${step.id} was deleted since the plan was made. Make a new plan.`)
  const field = comparedFields(step).find((name) => plain(step.before, name) !== plain(thing.values, name))
  if (field !== undefined) {
    throw new Difference(`The ${field} of the ${noun} was changed since the plan was made. Make a new plan.`)
  }
  if (changesEndpoints.has(step.operation) && (thing.endpointCount ?? 0) > (step.endpointCount ?? 0)) {
    throw new Difference(`A device was enrolled in the ${noun} since the plan was made. Make a new plan.`)
  }
}

/** Their steps say how many endpoints they change or unenrol: more than a person has seen are not touched. */
const changesEndpoints: ReadonlySet<StepOperation> = new Set([
  'roomsDelete',
  'roomsAssignProfile',
  'gatewayDevicesDelete',
])

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
