// Defines what a sender of messages gets and returns.
import type { Mailer } from '../../../outbound/mailer.ts'
import type { OutboundFetch } from '../../../outbound/outbound-fetch.ts'
import type { ChannelSecrets, ChannelSettings } from '../../settings.ts'
import type { OutgoingMessage } from './message.ts'
import type { Outcome } from './outcome.ts'

/** A message, and the channel that gets it. */
export interface SendRequest {
  readonly message: OutgoingMessage
  readonly settings: ChannelSettings
  readonly secrets: ChannelSecrets
  /** How many attempts failed before this one. */
  readonly attempts: number
  readonly now: number
  readonly signal: AbortSignal
}

export interface SenderTools {
  readonly fetch: OutboundFetch
  /** Undefined if no SMTP server is set. */
  readonly mailer: Mailer | undefined
}

export type MessageSender = (tools: SenderTools, request: SendRequest) => Promise<Outcome>
