// Sends JSON to a receiver over HTTP and says what came of it. The body of the answer is not read.
import { OutboundError } from '../../../outbound/outbound-error.ts'
import type { OutboundFetch } from '../../../outbound/outbound-fetch.ts'
import { retryAfterMsOf } from '../retry-schedule.ts'
import type { Outcome } from './outcome.ts'

interface JsonRequest {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly now: number
  readonly signal: AbortSignal
}

export async function postJson(send: OutboundFetch, request: JsonRequest): Promise<Outcome> {
  const { url, body, headers, now, signal } = request
  try {
    const answer = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Roomkeeper', ...headers },
      body,
      signal,
      ignoresBody: true,
    })
    const { status } = answer
    if (answer.ok) return { isDelivered: true, status }
    const retryAfterMs = retryAfterMsOf(answer.headers.get('retry-after'), now)
    return { isDelivered: false, status, error: `answered ${status}`, retryAfterMs, isGone: status === 410 }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { isDelivered: false, status: error.status ?? null, error: error.reason }
  }
}
