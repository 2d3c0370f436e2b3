// Calls the routes under /console, which only the console itself uses: session, sign-in, passkeys. [contract 9.session]
import { ApiError } from '../client/client.ts'
import type { ErrorBody } from '../contract/error.ts'
import { pathUnderBase } from './base-path.ts'
import { reachableFetch } from './reachable-fetch.ts'

/** The cookie of the session is sent along by the browser. */
export async function consoleRequest<T>(
  method: 'GET' | 'POST' | 'DELETE',
  path: `/console/${string}`,
  body?: object,
): Promise<T> {
  const response = await reachableFetch(pathUnderBase(path), {
    method,
    headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    cache: 'no-store',
  })
  const text = await response.text()
  if (response.ok) return JSON.parse(text)
  const error = parseErrorBody(text)
  throw new ApiError(response.status, error, error?.message ?? `Server error (${response.status}). Try again later.`)
}

function parseErrorBody(text: string): ErrorBody | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
