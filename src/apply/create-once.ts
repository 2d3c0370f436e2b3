// Makes a thing once, even if the command was interrupted while an earlier request for it was under way.
import { ApiError, type Client } from '../client/client.ts'
import type { OrganisationStep } from '../plan/plan.ts'
import type { Id } from '../plan/things.ts'
import { bodyOf, readAgain, type StepAnswer, type StepSendOptions, sendStep } from './requests.ts'
import { secretNamesOf } from './secrets.ts'
import { isTarget } from './step-target.ts'

/**
 * The service can carry out a request after its sender has ended. A repeat of the command sends the same key, so the service does not do it a
 * second time. An answer about a thing that was changed or deleted since belongs to an older run, and the step is sent again.
 */
export async function createOnce(
  client: Client,
  step: OrganisationStep,
  options: StepSendOptions & { readonly origin?: string | undefined },
): Promise<unknown> {
  const sendWith = (idempotencyKey?: string) => sendStep(client, step, { ...options, idempotencyKey })
  // A key that is made of a secret could reveal it.
  if (secretNamesOf({ steps: [step] }).length > 0) return (await sendWith()).body
  const key = await keyOf([options.origin, step.operation, step.pointer, bodyOf(step, options)])
  const answer = await sendWith(key).catch((error: unknown) => {
    // Such as another role since the first request.
    if (error instanceof ApiError && error.body?.code === 'FAILED_PRECONDITION') return sendWith()
    throw error
  })
  if (!answer.replayed || (await isAsPlanned(client, step, answer, options))) return answer.body
  return (await sendWith()).body
}

async function keyOf(parts: readonly unknown[]): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(parts)))
  return `plan-${Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Whether the thing of an answer still exists as the step asks for it. Its ETag does not tell: that of a region changes with its locations. */
async function isAsPlanned(
  client: Client,
  step: OrganisationStep,
  { body }: StepAnswer,
  { created }: StepSendOptions,
): Promise<boolean> {
  const thing = await readAgain(client, { ...step, id: idIn(body) })
  return thing !== undefined && isTarget(step, thing.values, created)
}

/** An answer about a new thing has its id; that about a profile one level deeper. */
export function idIn(answer: unknown): Id {
  const { id, profile } = answer as { id?: Id; profile?: { id: Id } }
  return (id ?? profile?.id) as Id
}
