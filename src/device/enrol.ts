// Enrols a device with the code of a room; the answer holds its credential and the addresses to connect to.
import { devicePaths, type EnrolAnswer, type EnrolRequest } from '../contract/device/protocol.ts'

/** The service refused the enrolment. The message is for the person at the device; the cause is the response with its status and Retry-After. */
export class EnrolmentRefusedError extends Error {
  declare readonly cause: Response

  /** Whether the same request would be refused again. 409 and 429 say "later", and 5xx that the service cannot answer now. */
  get isFinal(): boolean {
    const { status } = this.cause
    return status < 500 && status !== 409 && status !== 429
  }
}

/** Store the answer: the credential is not sent again. */
export async function requestEnrolment(url: string, request: EnrolRequest): Promise<EnrolAnswer> {
  const response = await fetch(url.replace(/\/+$/, '') + devicePaths.enrol, {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(request),
  })
  const answer = (await response.json().catch(() => ({}))) as EnrolAnswer & { message?: string }
  if (response.ok && answer.credential) return answer
  throw new EnrolmentRefusedError(answer.message ?? 'The answer did not come from Roomkeeper. Check the address.', {
    cause: response,
  })
}
