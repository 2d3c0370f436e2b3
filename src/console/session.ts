// The current session and its API client. The session's secret is in a cookie that no script can read. [contract 9.session]
import { useSyncExternalStore } from 'react'
import { ApiError, type Client, makeClient } from '../client/client.ts'
import {
  type Permissions,
  permissionsOfBoth,
  permissionsOfKey,
  permissionsOfRole,
} from '../contract/people/permissions.ts'
import { type ConsoleSession, type SignIn, sessionPath } from '../contract/people/session.ts'
import { serverUrl } from './base-path.ts'
import { consoleRequest } from './console-request.ts'
import { reachableFetch } from './reachable-fetch.ts'

interface SignedIn {
  readonly session: ConsoleSession
  readonly client: Client
  /** Set after a person has signed in with a link, which works only once. */
  readonly needsPasskey: boolean
}

let current: SignedIn | undefined
/** The reason why the last session ended, if the server ended it. */
let signOutReason: string | undefined
const listeners = new Set<() => void>()

function setCurrent(next: SignedIn | undefined, why?: string): void {
  current = next
  signOutReason = why
  rememberSignedIn(next !== undefined)
  for (const listener of listeners) listener()
}

/** The skeleton of the next load is of the shell or of the sign-in page. (index.html) */
function rememberSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem('roomkeeper-signed-in', 'yes')
    else localStorage.removeItem('roomkeeper-signed-in')
  } catch {
    // Without storage the skeleton is that of the sign-in page.
  }
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
  const write = scopes.includes('write')
  const ofToken = permissionsOfKey({
    read: scopes.includes('read'),
    operate: scopes.includes('operate'),
    write,
    manage: write && manage,
    allRegions,
  })
  return user ? permissionsOfBoth(ofToken, permissionsOfRole(user.role, allRegions)) : ofToken
}

export function currentSession(): ConsoleSession {
  if (!current) throw new Error('no session')
  return current.session
}

export function client(): Client {
  if (!current) throw new Error('no session')
  return current.client
}

/** Picks up the session whose cookie the browser still has, if any. */
export async function resumeSession(): Promise<void> {
  try {
    startSession(await readSession())
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
  }
}

export async function signIn(secret: SignIn): Promise<void> {
  const session = await consoleRequest<ConsoleSession>('POST', sessionPath, secret)
  startSession(session, secret.link !== undefined && session.user !== undefined)
}

export async function signOut(): Promise<void> {
  await consoleRequest('DELETE', sessionPath)
  setCurrent(undefined)
}

/** Called when the person has added a passkey, or does not want one now. */
export const dismissPasskeyOffer = (): void => {
  if (current) setCurrent({ ...current, needsPasskey: false })
}

/** Whether role, regions or person are others than those that the pages were rendered for. */
export async function hasAccessChanged(): Promise<boolean> {
  if (!current) return false
  const before = current.session
  const now = await readSession()
  const accessOf = ({ org, key, user, scopes, manage, allRegions, regionIds }: ConsoleSession) =>
    JSON.stringify([org.id, key?.id, user?.id, user?.role, scopes, manage, allRegions, regionIds.toSorted()])
  return accessOf(before) !== accessOf(now)
}

/** Reads what every page shows of the organisation and the person again: names, time zone and limits. Access has a check of its own. */
export async function refreshSession(): Promise<void> {
  const { org, user, airLimits, roomFreshnessSeconds } = await readSession()
  if (current?.session.org.id !== org.id) return
  const shown = { org, ...(user && { user }), airLimits, roomFreshnessSeconds }
  setCurrent({ ...current, session: { ...current.session, ...shown } })
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

const readSession = () => consoleRequest<ConsoleSession>('GET', sessionPath)

/** A client of the session whose requests go through another fetch. */
export const clientThrough = (wrap: (send: typeof fetch) => typeof fetch): Client =>
  makeClient({ baseUrl: serverUrl(), org: currentSession().org.id, fetch: wrap(uncachedFetch) })

export const startSession = (session: ConsoleSession, needsPasskey = false): void =>
  setCurrent({
    session,
    client: makeClient({ baseUrl: serverUrl(), org: session.org.id, fetch: uncachedFetch }),
    needsPasskey,
  })
