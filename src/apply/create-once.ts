// Makes a thing once, even if the command was interrupted while an earlier request for it was under way.
import { ApiError, type Client } from '../client/client.ts'
import type { OrganisationStep } from '../plan/plan.ts'
import type { Id } from '../plan/things.ts'
import { findEqualThings } from './equal-things.ts'
import { bodyOf, readAgain, type StepSendOptions, sendStep } from './requests.ts'
import { isTarget } from './step-target.ts'

interface CreateOptions extends StepSendOptions {
  readonly origin?: string | undefined
  /** Whether an entry of the document means the thing, which therefore existed before the plan, or another step has made it. */
  readonly isKnown: (id: Id) => boolean
}

/**
 * The service can carry out a request after its sender has ended. A repeat of the command sends the same key, so the service does not do it a
 * second time. An answer about a thing that the plan knew, or that was changed or deleted since, belongs to an older run. The next key then
 * names that thing.
 */
export async function createOnce(client: Client, step: OrganisationStep, options: CreateOptions): Promise<unknown> {
  // A key that is made of a secret could reveal it, so the name of its variable stands for it.
  const namedBody = bodyOf(step, { ...options, secretOf: (name) => name })
  const parts = [options.origin, step.operation, step.pointer, namedBody]
  for (const older: Id[] = []; ; ) {
    const idempotencyKey = await keyOf([...parts, ...older])
    const answer = await sendStep(client, step, { ...options, idempotencyKey }).catch((error: unknown) => {
      if (error instanceof ApiError && error.body?.code === 'FAILED_PRECONDITION') return undefined
      throw error
    })
    if (!answer) return await findOrCreate(client, step, options)
    const id = idIn(answer.body)
    if (!answer.replayed || (!options.isKnown(id) && (await isAsPlanned(client, step, id, options)))) return answer.body
    older.push(id)
  }
}

/**
 * The service refuses a repeat if the first answer is not stored, because it shows a secret or is large, and if the caller has another role, or
 * a variable another value, since the first request. What that request has made is in its list then. Otherwise it was changed or deleted
 * since, or the service refuses the step itself, and says so again.
 */
async function findOrCreate(client: Client, step: OrganisationStep, options: CreateOptions): Promise<unknown> {
  const equal = await findEqualThings(client, step, options.created)
  return equal.find(({ id }) => !options.isKnown(id)) ?? (await sendStep(client, step, options)).body
}

async function keyOf(parts: readonly unknown[]): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return `plan-${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Whether the thing of an answer still exists as the step asks for it. Its ETag does not tell: that of a region changes with its locations. */
async function isAsPlanned(
  client: Client,
  step: OrganisationStep,
  id: Id,
  { created }: StepSendOptions,
): Promise<boolean> {
  const thing = await readAgain(client, { ...step, id })
  return thing !== undefined && isTarget(step, thing.values, created)
}

/** An answer about a new thing has its id; that about a profile one level deeper. */
export function idIn(answer: unknown): Id {
  const { id, profile } = answer as { id?: Id; profile?: { id: Id } }
  return (id ?? profile?.id) as Id
}
