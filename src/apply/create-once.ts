// Makes a thing once, even if the command was interrupted while an earlier request for it was under way.
import { ApiError, type Client } from '../client/client.ts'
import type { OrganisationStep } from '../plan/plan.ts'
import type { Id } from '../plan/things.ts'
import { bodyOf, readAgain, type StepSendOptions, sendStep } from './requests.ts'
import { secretNamesOf } from './secrets.ts'
import { isTarget } from './step-target.ts'

interface CreateOptions extends StepSendOptions {
  readonly origin?: string | undefined
  /** Whether an entry of the document means the thing, which therefore existed before the plan. */
  readonly isKnown: (id: Id) => boolean
}

/**
 * The service can carry out a request after its sender has ended. A repeat of the command sends the same key, so the service does not do it a
 * second time. An answer about a thing that the plan knew, or that was changed or deleted since, belongs to an older run. The next key then
 * names that thing.
 */
export async function createOnce(client: Client, step: OrganisationStep, options: CreateOptions): Promise<unknown> {
  const sendWith = (idempotencyKey?: string) => sendStep(client, step, { ...options, idempotencyKey })
  // A key that is made of a secret could reveal it.
  if (secretNamesOf({ steps: [step] }).length > 0) return (await sendWith()).body
  const parts = [options.origin, step.operation, step.pointer, bodyOf(step, options)]
  for (const older: Id[] = []; ; ) {
    const answer = await sendWith(await keyOf([...parts, ...older])).catch((error: unknown) => {
      // Such as another role since the first request.
      if (error instanceof ApiError && error.body?.code === 'FAILED_PRECONDITION') return sendWith()
      throw error
    })
    const id = idIn(answer.body)
    if (!answer.replayed || (!options.isKnown(id) && (await isAsPlanned(client, step, id, options)))) return answer.body
    older.push(id)
  }
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
