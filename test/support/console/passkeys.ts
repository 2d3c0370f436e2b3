// People with passkeys for tests, and the console's requests for passkeys. [contract 11.local]
import { expect } from 'vitest'
import type { Harness, TestOrg } from '../harness.ts'
import { Authenticator } from './authenticator.ts'
import { consoleCall, invite, signInByLink } from './user-session.ts'

/** The public address of the service under test. */
export const passkeyOrigin = 'https://rooms.example.org'

/** The requests of one service, which people open at `origin`. */
export function passkeyRequests(of: () => Harness, origin: () => string = () => passkeyOrigin) {
  const post = (path: string, body?: unknown, cookie?: string) =>
    consoleCall(of(), 'POST', path, { ...(body !== undefined && { body }), ...(cookie && { cookie }) })
  const signInOptions = async () => (await post('/console/sign-in/passkey/options')).body
  const addOptions = async (cookie: string) => (await post('/console/passkeys/options', undefined, cookie)).body
  const answer = (response: unknown) => post('/console/sign-in/passkey/verify', { response })
  const list = async (cookie: string) => (await consoleCall(of(), 'GET', '/console/passkeys', { cookie })).body.passkeys

  /** Signs a new person in by a link. */
  async function newcomer(org: TestOrg, role = 'viewer') {
    const { id, email, link } = await invite(org, role)
    const { cookie } = await signInByLink(of(), { link })
    return { id, email, cookie }
  }

  async function addTo(cookie: string, name?: string) {
    const authenticator = new Authenticator(origin())
    const response = authenticator.create(await addOptions(cookie))
    const reply = await post('/console/passkeys/verify', { response, ...(name && { name }) }, cookie)
    expect(reply.status, reply.text).toBe(200)
    return { authenticator, passkey: reply.body }
  }

  /** A person with a passkey. */
  async function person(org: TestOrg, role = 'viewer') {
    const signedIn = await newcomer(org, role)
    return { ...signedIn, ...(await addTo(signedIn.cookie)) }
  }

  return { post, signInOptions, addOptions, answer, list, newcomer, addTo, person }
}
