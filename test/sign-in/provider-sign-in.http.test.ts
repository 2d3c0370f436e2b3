// People sign in at the provider of their organisation: who they are, and what they may do then. [contract 11.oidc]
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { follow } from '../support/event-follower.ts'
import { sumMetric } from '../support/nodes/metrics.ts'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'
import { newPerson } from '../support/person.ts'
import { until } from '../support/program.ts'

let site: ProviderSite
let org: ProviderOrg
beforeAll(async () => {
  site = await ProviderSite.start()
  org = await site.newOrg()
})
afterAll(() => site.close())

const typesOf = async (of = org) => (await of.audit()).map(({ type }) => type)
/** Removes the time of the last use, which is written some seconds later. */
const usersOf = async (of = org) => (await of.call('GET', '/users')).text.replaceAll(/,"lastSeenAt":"[^"]*"/g, '')

test('an invited person with a verified address comes in, and later by the identity, whatever the address is then', async () => {
  site.provider.addAccount('ada', { email: 'Ada@Example.org', name: 'Ada' })
  await site.invite(org, 'ada@example.org', { role: 'operator' })
  const first = await site.signIn(org, 'ada', undefined, '?returnTo=/rooms')
  expect([first.status, first.location]).toEqual([303, '/rooms'])
  const me = { user: { email: 'ada@example.org', role: 'operator' }, org: { id: org.id } }
  expect((await first.me()).body).toMatchObject(me)
  expect((await typesOf()).slice(0, 2)).toEqual(['SESSION_STARTED', 'USER_LINKED'])
  const { users } = (await org.call('GET', '/users')).body
  const user = users.find(({ email }: { email: string }) => email === 'ada@example.org')
  expect(user).toMatchObject({ state: 'ACTIVE', signsInWith: ['oidc'] })
  site.provider.addAccount('ada', { email: 'lovelace@example.org', emailVerified: false })
  expect((await (await site.signIn(org, 'ada')).me()).body).toMatchObject(me)
})

test('a session of the provider has a new secret each time, and the one that the browser had before ends', async () => {
  site.provider.addAccount('twice')
  await site.invite(org, 'twice@example.org')
  const browser = new CookieBrowser()
  await site.signIn(org, 'twice', browser)
  const before = browser.cookiesFor(new URL(site.harness.url))
  await site.signIn(org, 'twice', browser)
  const after = browser.cookiesFor(new URL(site.harness.url))
  expect(after).not.toBe(before)
  const ask = (cookie: string) =>
    site.harness.call('GET', '/console/session', { key: false, headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  expect([(await ask(before)).status, (await ask(after)).status]).toEqual([401, 200])
})

const strangers: [string, string, object, RegExp][] = [
  ['whose address no user has', 'stranger', {}, /There is no account with your e-mail address here/],
  ['whose address is not verified', 'unverified', { email: 'bob@example.org', emailVerified: false }, /not verified/],
  [
    'with the address of an owner',
    'impostor',
    { email: 'second-owner@example.org' },
    /Owners add their company account/,
  ],
  ['with the address of a user of version 0.1', 'old', { email: 'old@example.org' }, /You are not invited/],
  ['with the address of a disabled user', 'off', { email: 'off@example.org' }, /disabled/],
]
test.each(strangers)(
  'a person %s is told whom to ask, with one audit entry an hour, and nothing changes',
  async (_, subject, account, sentence) => {
    for (const [email, role] of [
      ['bob@example.org', 'viewer'],
      ['second-owner@example.org', 'owner'],
      ['old@example.org', 'viewer'],
      ['off@example.org', 'viewer'],
    ] as const) {
      if (!(await usersOf()).includes(`"${email}"`)) await site.invite(org, email, { role })
    }
    await site.rows((rows) =>
      rows.updateTable('users').set({ invited_at: null }).where('email', '=', 'old@example.org').execute(),
    )
    await site.rows((rows) =>
      rows.updateTable('users').set({ state: 'DISABLED' }).where('email', '=', 'off@example.org').execute(),
    )
    const { email } = site.provider.addAccount(subject, account)
    const before = await usersOf()
    const refused = await site.signIn(org, subject)
    expect(refused.status).toBe(403)
    expect(refused.page).toMatch(sentence)
    expect((await refused.me()).status).toBe(401)
    expect(await usersOf()).toBe(before)
    const [entry] = await org.audit()
    expect(entry).toMatchObject({ type: 'SIGN_IN_REFUSED', category: 'USER', target: { name: email } })
    await site.signIn(org, subject)
    expect((await org.audit())[0].id).toBe(entry.id)
    site.harness.clock.advance(3_600_001)
    await site.signIn(org, subject)
    expect((await org.audit())[0]).toMatchObject({ type: 'SIGN_IN_REFUSED' })
    expect((await org.audit())[0].id).not.toBe(entry.id)
  },
)

test('an address with too many refused people gets a 429, and writes no further audit entries', async () => {
  const limited = await ProviderSite.start('127.0.0.1', { authFailureLimit: 0.2 })
  onTestFinished(() => limited.close())
  limited.harness.clock.fix(limited.harness.clock.now())
  const closed = await limited.newOrg()
  const statuses = []
  for (let i = 0; i < 8; i++) {
    limited.provider.addAccount(`registered-${i}`)
    statuses.push((await limited.signIn(closed, `registered-${i}`)).status)
  }
  const refused = statuses.filter((status) => status === 403).length
  expect(refused).toBeGreaterThan(0)
  expect(statuses).toEqual([...Array(refused).fill(403), ...Array(8 - refused).fill(429)])
  expect(refused).toBeLessThan(8)
  expect((await typesOf(closed)).filter((type) => type === 'SIGN_IN_REFUSED')).toHaveLength(refused)
})

test('the address of a person who has an identity leads no other identity to them', async () => {
  site.provider.addAccount('carol')
  await site.invite(org, 'carol@example.org')
  await site.signIn(org, 'carol')
  site.provider.addAccount('carol-2', { email: 'carol@example.org' })
  const refused = await site.signIn(org, 'carol-2')
  expect(refused.status).toBe(403)
  expect(refused.page).toContain('another company account')
  expect((await (await site.signIn(org, 'carol')).me()).body.user.email).toBe('carol@example.org')
})

test('an owner adds the company account while signed in in the same browser, and comes in with it from then on', async () => {
  const other = await site.newOrg()
  expect((await site.signIn(other, 'owner')).page).toContain('Owners add their company account themselves')
  const browser = new CookieBrowser()
  browser.set(site.harness.url, `roomkeeper-${new URL(site.harness.url).port}`, other.owner.session)
  const linked = await site.signIn(other, 'owner', browser)
  expect(linked.status).toBe(303)
  expect((await linked.me()).body.user).toMatchObject({ email: other.owner.email, role: 'owner' })
  expect((await (await site.signIn(other, 'owner')).me()).body.user.role).toBe('owner')
  expect(await typesOf(other)).toContain('USER_LINKED')
})

test('a session in the browser never gives the account of another address', async () => {
  const other = await site.newOrg()
  site.provider.addAccount('somebody', { email: 'somebody@example.org' })
  const browser = new CookieBrowser()
  browser.set(site.harness.url, `roomkeeper-${new URL(site.harness.url).port}`, other.owner.session)
  expect((await site.signIn(other, 'somebody', browser)).status).toBe(403)
})

test('a trusted domain stands for a verified address, and only this domain', async () => {
  const trusting = await site.newOrg({ trustedDomains: ['Example.ORG'] })
  for (const email of ['dan@example.org', 'eve@evil-example.org', 'eve@example.org.evil.net']) {
    await site.invite(trusting, email)
    site.provider.addAccount(email, { email, emailVerified: false })
  }
  expect((await site.signIn(trusting, 'dan@example.org')).status).toBe(303)
  expect((await site.signIn(trusting, 'eve@evil-example.org')).status).toBe(403)
  expect((await site.signIn(trusting, 'eve@example.org.evil.net')).status).toBe(403)
})

test('groups give role and regions at every sign-in: the first match counts, no match is no entry', async () => {
  const grouped = await site.harness.newOrg()
  const regions = []
  for (const name of ['Europe', 'Asia'])
    regions.push((await grouped.call('POST', '/regions', { body: { name } })).body.id)
  const [europe, asia] = regions
  const groupRoles = [
    { group: 'admins', role: 'admin', allRegions: true },
    { group: 'europe', role: 'operator', regionIds: [europe, asia] },
    { group: 'asia', role: 'viewer', regionIds: [asia] },
  ]
  const set = await site.setUp(grouped, { groupRoles, createUsers: true })
  const account = site.provider.addAccount('fay', { groups: ['europe', 'admins'] })
  const session = async () => (await (await site.signIn(set, 'fay')).me()).body
  expect(await session()).toMatchObject({ user: { role: 'admin' }, allRegions: true })
  expect((await typesOf(set)).slice(0, 2)).toEqual(['SESSION_STARTED', 'USER_CREATED'])
  account.groups = ['europe']
  expect(await session()).toMatchObject({ user: { role: 'operator' }, allRegions: false, regionIds: [europe, asia] })
  expect((await typesOf(set)).slice(0, 2)).toEqual(['SESSION_STARTED', 'USER_UPDATED'])
  const operator = { role: 'operator', allRegions: false, regionIds: [europe, asia] }
  expect((await set.audit())[1].details).toMatchObject({
    before: { role: 'admin', allRegions: true, regionIds: [] },
    after: operator,
  })
  // An admin of the region that a person loses sees the entry too, as one of usersUpdate.
  const admin = await newPerson(site.harness, set, { role: 'admin', regionIds: [europe] })
  account.groups = ['asia']
  expect(await session()).toMatchObject({ user: { role: 'viewer' }, regionIds: [asia] })
  const { details, ...lost } = (await set.audit())[1]
  expect([lost.type, details.before]).toEqual(['USER_UPDATED', operator])
  const seen = await set.call('GET', '/audit/logs?from=1970-01-01&to=9999-01-01', { key: admin.key })
  const { target: _, ...shown } = lost
  expect(seen.body.logs[0]).toEqual(shown)
  account.groups = ['europe']
  await session()
  await set.call('DELETE', `/regions/${asia}`)
  expect(await session()).toMatchObject({ allRegions: false, regionIds: [europe] })
  account.groups = ['others']
  expect((await site.signIn(set, 'fay')).page).toContain('None of your groups')
  // An invitation would not help a person without a group, so the page does not say to ask for one.
  site.provider.addAccount('guest', { groups: ['others'] })
  expect((await site.signIn(set, 'guest')).page).toContain('None of your groups')
  // Groups make no owner, and unmake none.
  const browser = new CookieBrowser()
  browser.set(site.harness.url, `roomkeeper-${new URL(site.harness.url).port}`, set.owner.session)
  expect((await (await site.signIn(set, 'owner', browser)).me()).body.user.role).toBe('owner')
})

test('a role that a group takes away at a sign-in ends the streams of the person [contract 11.access]', async () => {
  const groupRoles = [
    { group: 'admins', role: 'admin', allRegions: true },
    { group: 'staff', role: 'viewer', allRegions: true },
  ]
  const set = await site.newOrg({ groupRoles, createUsers: true })
  const account = site.provider.addAccount('gus', { groups: ['admins'] })
  const browser = new CookieBrowser()
  await site.signIn(set, 'gus', browser)
  const reader = await follow(site.clientOf(set, browser))
  await site.signIn(set, 'gus')
  await set.call('POST', '/regions', { body: { name: 'Heard' } })
  await reader.next('structure')
  expect(reader.ended, 'with the same role').toBeUndefined()
  account.groups = ['staff']
  await site.signIn(set, 'gus')
  await until('its end', () => reader.ended)
  expect(reader.ended).toBe('by the server')
})

test.each([
  ['turned off', { enabled: false }],
  ['changed', { enabled: false, groupsClaim: 'roles' }],
  ['replaced', { enabled: false, clientId: 'other' }],
])('a provider that is %s while it answers creates no session and no link', async (_, body) => {
  onTestFinished(() => {
    site.provider.beforeAnswer = undefined
  })
  // One of them is known, the other one has an invitation that the sign-in would use up.
  for (const name of ['gil', 'hal']) {
    const changing = await site.newOrg()
    site.provider.addAccount(name)
    await site.invite(changing, `${name}@example.org`)
    if (name === 'gil') expect((await site.signIn(changing, name)).status).toBe(303)
    const browser = new CookieBrowser()
    const callback = await site.callbackOf(`${site.url}/auth/${changing.id}/oidc`, name, browser)
    let [inBetween, users]: [string[], string] = [[], '']
    site.provider.beforeAnswer = async (path) => {
      if (path !== '/token') return
      expect((await changing.call('PUT', '/identity', { body })).status).toBe(200)
      inBetween = await typesOf(changing)
      users = await usersOf(changing)
    }
    const answer = await site.finish(callback, browser)
    site.provider.beforeAnswer = undefined
    expect([answer.status, answer.page]).toEqual([400, expect.stringContaining('the sign-in settings have changed')])
    expect((await answer.me()).status).toBe(401)
    expect(inBetween[0]).toBe('IDENTITY_UPDATED')
    expect([await typesOf(changing), await usersOf(changing)]).toEqual([inBetween, users])
  }
})

test('an organisation without a provider, or that does not exist, has one and the same page', async () => {
  const without = await site.harness.newOrg()
  const pages = []
  for (const id of [without.id, 'nobody']) {
    const answer = await new CookieBrowser().request(`${site.harness.url}/auth/${id}/oidc`)
    pages.push([answer.status, await answer.text()])
  }
  expect(pages[0]).toEqual(pages[1])
  expect(pages[0]?.[0]).toBe(404)
})

test('metrics count sign-ins by way and outcome', async () => {
  for (const outcome of ['accepted', 'refused']) {
    const name = `roomkeeper_sign_ins_total{way="oidc",outcome="${outcome}"}`
    expect(await sumMetric(site.harness, name)).toBeGreaterThan(0)
  }
})
