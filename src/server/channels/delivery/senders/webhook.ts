// Sends a message as a webhook of Standard Webhooks 1.0. [contract 10.channel]
import { webhookBody } from './message.ts'
import type { Outcome } from './outcome.ts'
import { postJson } from './post-json.ts'
import type { SenderTools, SendRequest } from './sender.ts'
import { signatureHeaders } from './signature.ts'

export function sendWebhook({ fetch }: SenderTools, { message, secrets, now, signal }: SendRequest): Promise<Outcome> {
  const body = webhookBody(message)
  const headers = signatureHeaders(secrets.signing ?? [], { id: message.id, body, now })
  return postJson(fetch, { url: secrets.url ?? '', body, headers, now, signal })
}
