// The sealed part of the address that tests the settings of an identity provider: it says who asked for the test, and of what.

import { minuteMs } from '../../../contract/durations.ts'
import type { Actor } from '../../context/request-context.ts'
import type { Clock } from '../../core/clock.ts'
import type { Secrets } from '../../core/secrets.ts'

const ticketLifetimeMs = 10 * minuteMs

export interface TestTicket {
  readonly orgId: string
  readonly hash: string
  /** The entry of the result in the audit log names the one who asked for the test. */
  readonly actor: Actor
}

export const sealTicket = (secrets: Secrets, clock: Clock, ticket: TestTicket): string =>
  secrets
    .seal(JSON.stringify({ ...ticket, endsAt: clock.now() + ticketLifetimeMs }), sealContext(ticket.orgId))
    .toString('base64url')

/** Returns undefined if the text is no ticket of this organisation, or has ended. */
export function openTicket(secrets: Secrets, clock: Clock, text: string, orgId: string): TestTicket | undefined {
  try {
    const content = secrets.unseal(Buffer.from(text, 'base64url'), sealContext(orgId))
    const { endsAt, ...ticket } = JSON.parse(content) as TestTicket & { readonly endsAt: number }
    return endsAt > clock.now() ? ticket : undefined
  } catch {
    return undefined
  }
}

const sealContext = (orgId: string) => `identity test of organisation ${orgId}`
