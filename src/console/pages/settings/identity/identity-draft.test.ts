// Tests the request that the form of the identity provider sends. [contract 11.oidc]
import { expect, test } from 'vitest'
import { changeOf, changesProvider, draftOf, isComplete } from './identity-draft.ts'

const stored = draftOf({
  issuer: 'https://login.example.org',
  clientId: 'roomkeeper',
  hasClientSecret: true,
  scopes: ['openid', 'email'],
  groupsClaim: 'groups',
  groupRoles: [{ group: 'av-team', role: 'operator', regionIds: [11] }],
  trustedDomains: [],
  createUsers: false,
  passkeys: true,
  enabled: true,
})

test('the stored secret is kept unless it is replaced or removed', () => {
  expect(changeOf(stored, false)).not.toHaveProperty('clientSecret')
  expect(changeOf({ ...stored, clientSecret: 'new' }, false)).toMatchObject({ clientSecret: 'new' })
  expect(changeOf({ ...stored, removesSecret: true }, false)).toMatchObject({ clientSecret: null })
  expect(changeOf({ ...stored, removesSecret: true, clientSecret: 'new' }, false)).toMatchObject({
    clientSecret: 'new',
  })
})

test('saving turns company accounts off until the new settings are tested, and does not change passkeys', () => {
  expect(changeOf(stored, false)).not.toHaveProperty('enabled')
  expect(changeOf(stored, true)).toMatchObject({ enabled: false })
  expect(changeOf(stored, false)).not.toHaveProperty('passkeys')
})

test('another issuer or client id is another provider, but the first one is not', () => {
  expect(changesProvider(stored, stored)).toBe(false)
  expect(changesProvider(stored, { ...stored, issuer: 'https://other.example.org' })).toBe(true)
  expect(changesProvider(stored, { ...stored, clientId: 'other' })).toBe(true)
  expect(changesProvider({ ...stored, issuer: '', clientId: '' }, stored)).toBe(false)
})

test('a group without a name is not complete', () => {
  expect(isComplete(stored)).toBe(true)
  expect(isComplete({ ...stored, groupRoles: [{ group: ' ', role: 'viewer' }] })).toBe(false)
})
