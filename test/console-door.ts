// The console's door as a browser uses it: signs in, keeps the cookie, shows it. [contract 9.session]
import { expect } from 'vitest'
import type { Call, Harness, Reply, TestOrg } from './harness.ts'

/** What a browser says when a page of the service itself asks. */
export const own = { 'sec-fetch-site': 'same-origin' }

/** The cookie that a browser would keep, as it would send it. */
export const cookieOf = ({ headers }: Pick<Reply, 'headers'>): string =>
  (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** The cookie's name where nothing is between browser and server: the port is in it. [contract 9.cookie] */
export const cookieName = ({ url }: Pick<Harness, 'url'>): string => `roomkeeper-${new URL(url).port}`

export const session = (house: Harness, method: string, { headers, ...call }: Call = {}) =>
  house.call(method, '/console/session', { ...call, headers: { ...own, ...headers } })

export async function signIn(
  house: Harness,
  body: { key: string } | { link: string },
  headers: Record<string, string> = {},
) {
  const reply = await session(house, 'POST', { body, headers })
  expect(reply.status, reply.text).toBe(200)
  return { reply, cookie: cookieOf(reply) }
}

/** A read with nothing but the cookie. */
export const readWith = (org: TestOrg, cookie: string) =>
  org.call('GET', '/regions', { key: false, headers: { ...own, cookie } })

export const sessionRows = (house: Harness, org: TestOrg) =>
  house.ground.db.kysely.selectFrom('sessions').selectAll().where('org', '=', org.org.key).execute()
