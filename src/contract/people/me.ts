// The account of the caller: what it may do, and the personal keys of a person. [contract 11.user] [contract 11.local]

import Type from 'typebox'
import { mediumBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, Name, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { Key, KeyScopes, KeyWithSecret } from './keys.ts'
import { roles, scopes } from './permissions.ts'

const id = Type.String({ description: 'Identifier of the key.' })
/** A person may have this many keys. */
export const maxPersonalKeys = 10
/** A personal key works for this long at most. */
export const maxPersonalKeyDays = 365

/** Also in the operations on users. */
export const PersonName = SingleLineText(100, 'Name of the person.')

const keyExample = {
  id: '12',
  name: 'Laptop',
  prefix: 'rk_9fQx2L',
  scopes: ['read'],
  manage: false,
  createdAt: '2026-03-02T09:15:00.000Z',
  expiresAt: '2026-06-01T00:00:00.000Z',
}

export const Me = Shape('Me', {
  actor: Shape('MeActor', {
    type: OneOf(['KEY', 'USER'], 'The kind of caller.'),
    id: Type.String(),
    name: Type.String({ description: 'The name of the key, or the e-mail address of the person.' }),
  }),
  role: Type.Optional(OneOf(roles, 'The role of a person.')),
  scopes: Type.Array(OneOf(scopes, 'A scope.'), { description: 'The rights of the caller.' }),
  manage: Type.Boolean({
    description: 'Whether the caller may manage keys, users, channels and the identity provider.',
  }),
  allRegions: Type.Boolean({ description: 'Whether the caller sees the whole organisation.' }),
  regionIds: Type.Array(Int32('Identifier of a region.'), {
    description: 'The regions that the caller sees; empty if it sees all regions or none.',
  }),
  org: Shape('MeOrg', { id: Type.String(), name: Type.String(), timezone: Type.String() }),
})

export const meOperations = {
  meGet: operation({
    method: 'GET',
    path: '/me',
    tag: 'My account',
    scope: 'read',
    summary: 'Read the identity and the rights of the caller',
    response: Me,
    example: {
      response: {
        actor: { type: 'USER', id: '4', name: 'ada@example.org' },
        role: 'admin',
        scopes: ['read', 'write'],
        manage: false,
        allRegions: false,
        regionIds: [11],
        org: { id: 'LXJ45kN', name: 'Example', timezone: 'Europe/Oslo' },
      },
    },
  }),
  meUpdate: operation({
    method: 'PUT',
    path: '/me',
    tag: 'My account',
    scope: 'read',
    person: true,
    summary: 'Change the name of the caller, who is a person',
    body: Shape('MeUpdateRequest', {
      name: Type.Union([PersonName, Type.Null()], { description: 'null removes the name.' }),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: Shape('MeUpdateResponse', {
      name: Type.Optional(Type.String({ description: 'The name as it is now.' })),
    }),
    audit: { category: 'USER', type: 'USER_UPDATED' },
    example: { body: { name: 'Ada Lovelace' }, response: { name: 'Ada Lovelace' } },
  }),
  myKeysList: operation({
    method: 'GET',
    path: '/me/keys',
    tag: 'My account',
    scope: 'read',
    person: true,
    summary: 'List the personal API keys of the caller',
    response: ListOf('MyKeyList', 'keys', Key),
    example: { response: { keys: [keyExample] } },
  }),
  myKeysCreate: operation({
    method: 'POST',
    path: '/me/keys',
    tag: 'My account',
    scope: 'read',
    person: true,
    summary: 'Create a personal API key; the answer is the only place that shows it',
    description:
      'The key acts as its person, with the given scopes, as far as the person still has them. It stops working when the person is disabled or deleted. A person has at most 10 keys. If the person has not signed in for 30 days, the key is refused until they sign in.',
    body: Shape('MyKeysCreateRequest', {
      name: Name('key'),
      scopes: KeyScopes,
      expiresAt: Timestamp(
        'Time at which the key stops working, at most 365 days from now. A date alone is midnight in UTC.',
      ),
    }),
    bodyLimitBytes: mediumBodyBytes,
    response: KeyWithSecret,
    repeat: 'secret',
    audit: { category: 'USER', type: 'API_KEY_CREATED' },
    example: {
      body: { name: keyExample.name, scopes: keyExample.scopes, expiresAt: keyExample.expiresAt },
      response: { ...keyExample, key: 'rk_9fQx2L…' },
    },
  }),
  myKeysDelete: operation({
    method: 'DELETE',
    path: '/me/keys/{id}',
    tag: 'My account',
    scope: 'read',
    person: true,
    summary: 'Revoke a personal API key of the caller',
    params: { id },
    response: Empty,
    audit: { category: 'USER', type: 'API_KEY_REVOKED' },
    example: { params: { id: '12' }, response: {} },
  }),
}
