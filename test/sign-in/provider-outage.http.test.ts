// While the identity provider cannot be reached, passkeys and links sign people in. [contract 11.local]
import { expect, test } from 'vitest'
import { readWith } from '../support/console/console-session.ts'
import { passkeyRequests } from '../support/console/passkeys.ts'
import { invite, signInByLink } from '../support/console/user-session.ts'
import { ProviderSite } from '../support/oidc/provider-site.ts'

test('a passkey and a link work while the provider is unreachable, and a company account does not', async () => {
  const site = await ProviderSite.start('localhost')
  try {
    const org = await site.newOrg()
    const passkeys = passkeyRequests(
      () => site.harness,
      () => site.url,
    )
    const { id, email, authenticator } = await passkeys.person(org)
    const { link } = await invite(org)
    site.provider.addAccount('ada', { email: 'ada@example.org' })
    await site.invite(org, 'ada@example.org')
    expect((await site.signIn(org, 'ada')).status, 'before').toBe(303)
    await site.provider.close()

    await expect(site.signIn(org, 'ada')).rejects.toThrow()
    const signedIn = await passkeys.answer(authenticator.get(await passkeys.signInOptions()))
    expect(signedIn.status, signedIn.text).toBe(200)
    expect(signedIn.body.user).toMatchObject({ id, email })
    const { reply, cookie } = await signInByLink(site.harness, { link })
    expect(reply.body.user).toMatchObject({ role: 'viewer' })
    expect((await readWith(org, cookie)).status).toBe(200)
  } finally {
    await site.close()
  }
})
