// Signs webhooks as Standard Webhooks 1.0 describes it, with every secret that is valid. [contract 10.channel]
import { createHmac } from 'node:crypto'
import { secondMs } from '../../../../contract/durations.ts'
import type { SigningSecret } from '../../settings.ts'

interface SignedContent {
  readonly id: string
  readonly body: string
  readonly now: number
}

/** The headers that identify and sign a webhook. During an overlap of two secrets there are two signatures. */
export function signatureHeaders(
  signing: readonly SigningSecret[],
  { id, body, now }: SignedContent,
): Record<string, string> {
  const timestamp = String(Math.floor(now / secondMs))
  const signatures = signing
    .filter(({ until }) => until === undefined || until > now)
    .map(({ secret }) => `v1,${signatureOf(secret, `${id}.${timestamp}.${body}`)}`)
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

const signatureOf = (secret: string, content: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(content)
    .digest('base64')
