// The current session and its API client. The session's secret is in a cookie that no script can read. [contract 9.session]
import { useSyncExternalStore } from 'react'
import { ApiError, type Client, makeClient } from '../client/client.ts'
import type { ErrorBody } from '../contract/error.ts'
import type { Permissions } from '../contract/people/permissions.ts'
import { type ConsoleSession, type SignIn, sessionPath } from '../contract/people/session.ts'
import { pathUnderBase, serverUrl } from './base-path.ts'
import { reachableFetch } from './reachable-fetch.ts'

interface SignedIn {
  readonly session: ConsoleSession
  readonly client: Client
}

let current: SignedIn | undefined
/** The reason why the last session ended, if the server ended it. */
let signOutReason: string | undefined
const listeners = new Set<() => void>()

function setCurrent(next: SignedIn | undefined, why?: string): void {
  current = next
  signOutReason = why
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export const useSignedIn = (): SignedIn | undefined => useSyncExternalStore(subscribe, () => current)
export const useSignOutReason = (): string | undefined => useSyncExternalStore(subscribe, () => signOutReason)

/** May be used only below the shell, which is rendered only while there is a session. */
export function useSession(): ConsoleSession {
  const signedIn = useSignedIn()
  if (!signedIn) throw new Error('no session')
  return signedIn.session
}

/** The permissions of the session; pages hide the actions that it does not allow. [contract 11.user] */
export function usePermissions(): Permissions {
  const { scopes, manage, allRegions, user } = useSession()
  const [read, write] = [scopes.includes('read'), scopes.includes('write')]
  return {
    read,
    operate: write || scopes.includes('operate'),
    write,
    manage: write && manage,
    everywhere: write && allRegions,
    audit: read && (user === undefined || user.role === 'owner' || user.role === 'admin'),
  }
}

export function client(): Client {
  if (!current) throw new Error('no session')
  return current.client
}

/** Picks up the session whose cookie the browser still has, if any. */
export async function resumeSession(): Promise<void> {
  try {
    startSession(await requestSession('GET'))
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
  }
}

export const signIn = async (secret: SignIn): Promise<void> => startSession(await requestSession('POST', secret))

export async function signOut(): Promise<void> {
  await requestSession('DELETE')
  setCurrent(undefined)
}

/** Called when the server no longer accepts the session: its key was revoked, or it was unused for too long. */
export const endSession = (why: string): void => {
  if (current) setCurrent(undefined, why)
}

/**
 * Bypasses the browser's HTTP cache: the ETag of a room or an endpoint does not change when devices connect or disconnect.
 * [contract 7.8]
 */
const uncachedFetch: typeof fetch = (input, init) => reachableFetch(input, { ...init, cache: 'no-store' })

const startSession = (session: ConsoleSession) =>
  setCurrent({ session, client: makeClient({ baseUrl: serverUrl(), org: session.org.id, fetch: uncachedFetch }) })

async function requestSession(method: 'GET' | 'POST' | 'DELETE', body?: SignIn): Promise<ConsoleSession> {
  const response = await reachableFetch(pathUnderBase(sessionPath), {
    method,
    headers: { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
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
