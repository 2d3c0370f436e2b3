// Signs in to the console and sends requests with its cookie, as a browser does. [contract 9.session]
import { expect } from 'vitest'
import type { Call, Harness, Reply, TestOrg } from '../harness.ts'

/** A browser sends this header with requests from a page of the service itself. */
export const own = { 'sec-fetch-site': 'same-origin' }

/** Returns the cookie of an answer as a browser would send it. */
export const cookieOf = ({ headers }: Pick<Reply, 'headers'>): string =>
  (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** Without a proxy, the name of the cookie contains the port. [contract 9.cookie] */
export const cookieName = ({ url }: Pick<Harness, 'url'>): string => `roomkeeper-${new URL(url).port}`

export const session = (harness: Harness, method: string, { headers, ...call }: Call = {}) =>
  harness.call(method, '/console/session', { ...call, headers: { ...own, ...headers } })

export async function openSession(
  harness: Harness,
  body: { key: string } | { link: string },
  headers: Record<string, string> = {},
) {
  const reply = await session(harness, 'POST', { body, headers })
  expect(reply.status, reply.text).toBe(200)
  return { reply, cookie: cookieOf(reply) }
}

/** Reads with the cookie as the only credential. */
export const readWith = (org: TestOrg, cookie: string) =>
  org.call('GET', '/regions', { key: false, headers: { ...own, cookie } })

export const sessionRows = (harness: Harness, org: TestOrg) =>
  harness.services.db.system.kysely.selectFrom('sessions').selectAll().where('org', '=', org.org.key).execute()
