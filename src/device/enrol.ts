// Enrolment: with the code of a room, a device becomes an endpoint and learns where to connect.
import { devicePaths, type EnrolAnswer, type EnrolRequest } from '../contract/device.ts'

/** The service said no. The message is for the person in front of the device; its cause has status and Retry-After. */
export class EnrolRefused extends Error {
  declare readonly cause: Response
}

/** Keep what it returns: the credential is shown only this once. */
export async function enrol(url: string, request: EnrolRequest): Promise<EnrolAnswer> {
  const response = await fetch(new URL(devicePaths.enrol, url), {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(request),
  })
  const answer = (await response.json().catch(() => ({}))) as EnrolAnswer & { message?: string }
  if (response.ok && answer.credential) return answer
  throw new EnrolRefused(answer.message ?? 'What answered is not this service.', { cause: response })
}
