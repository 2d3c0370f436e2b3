// Signs people in for tests, and sends requests with their sessions, as the console does. [contract 11.local]
import { expect } from 'vitest'
import type { Call, Harness, Reply, TestOrg } from '../harness.ts'
import { cookieOf, own, session } from './console-session.ts'

export interface Invited {
  readonly id: string
  readonly email: string
  /** The secret of the link. */
  readonly link: string
}

let count = 0

/** Creates a user and makes a link for them. */
export async function invite(org: TestOrg, role = 'viewer', given?: string): Promise<Invited> {
  const email = given ?? `${role}-${++count}@people.example`
  const made = await org.call('POST', '/users', { body: { email, role } })
  expect(made.status, made.text).toBe(200)
  return { id: made.body.id, email, link: await inviteAgain(org, made.body.id) }
}

export async function inviteAgain(org: TestOrg, id: string): Promise<string> {
  const { status, body, text } = await org.call('POST', `/users/${id}/invite`)
  expect(status, text).toBe(200)
  return body.url.split('#')[1]
}

export interface SignedIn {
  readonly reply: Reply
  readonly cookie: string
}

export async function signInByLink(harness: Harness, body: { link: string; email?: string }): Promise<SignedIn> {
  const reply = await session(harness, 'POST', { body })
  expect(reply.status, reply.text).toBe(200)
  return { reply, cookie: cookieOf(reply) }
}

/** Sends a request of the console with the cookie of a session. */
export const consoleCall = (
  harness: Harness,
  method: string,
  path: string,
  { cookie, headers, ...call }: Call & { cookie?: string } = {},
) => harness.call(method, path, { ...call, headers: { ...own, ...(cookie && { cookie }), ...headers } })

/** The audit entries of a type, newest first. */
export const entriesOf = async (org: TestOrg, type: string) =>
  (await org.audit()).filter((entry) => entry.type === type)

export const disable = ({ services }: Harness, org: TestOrg, id: string, state = 'DISABLED') =>
  services.db.systemTransaction(async ({ kysely }) => {
    await kysely
      .updateTable('users')
      .set({ state })
      .where('org', '=', org.org.key)
      .where('id', '=', Number(id))
      .execute()
  })
