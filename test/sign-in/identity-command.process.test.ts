// `roomkeeper identity` beside a running server: shows the provider, and turns it off. [contract 11.oidc]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { identityDisable } from '../../src/server/people/identity/rules.ts'
import { CookieBrowser } from '../support/oidc/cookie-browser.ts'
import { type ProviderOrg, ProviderSite } from '../support/oidc/provider-site.ts'
import { expectDone } from '../support/program.ts'
import { runHere } from '../support/run-here.ts'

let site: ProviderSite
let org: ProviderOrg
beforeAll(async () => {
  site = await ProviderSite.start()
  org = await site.newOrg()
})
afterAll(() => site.close())

async function run(...args: string[]): Promise<string> {
  const { dataDir, databaseUrl } = site.harness.place
  const place = ['--data-dir', dataDir, ...(databaseUrl ? ['--database-url', databaseUrl] : [])]
  const done = await runHere([...args, '--org', org.id, ...place])
  expectDone(done)
  return done.stdout
}

test('identity show names the provider and whether it is on, and never its secret', async () => {
  const text = await run('identity', 'show')
  expect(text).toContain(`provider  ${site.provider.issuer} (on)`)
  expect(text).toContain('client    roomkeeper, with a secret')
  const json = await run('identity', 'show', '--json')
  expect(JSON.parse(json)).toMatchObject({ issuer: site.provider.issuer, enabled: true, hasClientSecret: true })
  expect(text + json).not.toContain(site.provider.clients[0].clientSecret)
})

test('identity disable works even if the client secret cannot be opened', async () => {
  const damaged = await site.newOrg()
  await site.rows((rows) =>
    rows
      .updateTable('identity_providers')
      .set({ client_secret: Buffer.alloc(40) })
      .where('org', '=', damaged.org.key)
      .execute(),
  )
  await identityDisable(damaged.ctx)
  const row = await site.rows((rows) =>
    rows
      .selectFrom('identity_providers')
      .select(['settings', 'client_secret'])
      .where('org', '=', damaged.org.key)
      .executeTakeFirstOrThrow(),
  )
  expect(JSON.parse(row.settings)).toMatchObject({ issuer: site.provider.issuer, enabled: false })
  expect(row.client_secret).toEqual(Buffer.alloc(40))
})

test('identity disable turns the provider off at the running server, with an entry of the command line', async () => {
  site.provider.addAccount('ada')
  await site.invite(org, 'ada@example.org')
  const ada = await site.signIn(org, 'ada')
  expect(await run('identity', 'disable')).toContain('Passkeys and links still work')
  expect((await org.call('GET', '/identity')).body.enabled).toBe(false)
  expect((await org.audit())[0]).toMatchObject({ type: 'IDENTITY_UPDATED', actor: { type: 'CLI' } })
  const refused = await new CookieBrowser().request(`${site.harness.url}/auth/${org.id}/oidc`)
  expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining('passkey or a link')])
  expect((await ada.me()).status, 'sessions go on').toBe(200)
})
