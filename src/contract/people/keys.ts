// API keys: what the key operations take and give. [contract 3.1] [contract 6.keys]

import Type from 'typebox'
import { largeBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, Name, OneOf, Shape, Timestamp } from '../shape.ts'
import { scopes } from './permissions.ts'

const id = Type.String({ description: 'Identifier of the key.' })
export const KeyScopes = Type.Array(OneOf(scopes, 'A scope.'), {
  minItems: 1,
  maxItems: 3,
  description: 'The rights of the key. Write contains operate, which is then not listed, and does not contain read.',
})

const fields = {
  id,
  name: Type.String({ description: 'Name of the key.' }),
  prefix: Type.String({ description: 'First characters of the key; the whole key is shown once, when it is created.' }),
  scopes: KeyScopes,
  manage: Type.Boolean({ description: 'Whether the key may manage keys, users, channels and the identity provider.' }),
  regionIds: Type.Optional(
    Type.Array(Int32('Identifier of a region.'), {
      description:
        'The regions that the key is limited to; absent if the key sees all regions. An empty list means that its regions were deleted and it sees nothing.',
    }),
  ),
  userId: Type.Optional(
    Type.String({ description: 'The user that a personal key belongs to; absent for other keys.' }),
  ),
  createdAt: Timestamp('Time at which the key was created.'),
  expiresAt: Type.Optional(Timestamp('Time at which the key stops working; absent means never.')),
  lastUsedAt: Type.Optional(Timestamp('Time at which the key was last used; absent means never.')),
}
export const Key = Shape('webpageKey', fields)
export const KeyWithSecret = Shape('webpageKeyWithSecret', {
  ...fields,
  key: Type.String({ description: 'The key. Save it: it is not shown again.' }),
})

const example = {
  id: '2',
  name: 'Wall display',
  prefix: 'rk_9fQx2L',
  scopes: ['read'],
  manage: false,
  createdAt: '2026-03-02T09:15:00.000Z',
}

export const keyOperations = {
  keysList: operation({
    method: 'GET',
    path: '/keys',
    tag: 'API keys',
    scope: 'write',
    manage: true,
    summary: 'List the API keys, personal ones included',
    response: ListOf('webpageKeyList', 'keys', Key),
    example: { response: { keys: [example] } },
  }),
  keysCreate: operation({
    method: 'POST',
    path: '/keys',
    tag: 'API keys',
    scope: 'write',
    manage: true,
    summary: 'Create an API key; the answer is the only place that shows it',
    description:
      'A key cannot grant rights that it does not have. A key that is limited to regions cannot have `manage`, and cannot read the metrics.',
    body: Shape('KeysCreateRequest', {
      name: Name('key'),
      scopes: KeyScopes,
      manage: Type.Optional(
        Type.Boolean({
          description: 'Whether the key may manage keys, users, channels and the identity provider; default false.',
        }),
      ),
      regionIds: Type.Optional(
        Type.Array(Int32('Identifier of a region.'), {
          minItems: 1,
          maxItems: 1000,
          description: 'The regions that the key is limited to; absent means all. Cannot be combined with manage.',
        }),
      ),
      expiresAt: Type.Optional(
        Type.Union([Timestamp('Time at which the key stops working. A date alone is midnight in UTC.'), Type.Null()]),
      ),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: KeyWithSecret,
    versioned: true,
    repeat: 'secret',
    audit: { category: 'USER', type: 'API_KEY_CREATED' },
    example: {
      body: { name: 'Wall display', scopes: ['read'] },
      response: { ...example, key: 'rk_9fQx2L…' },
    },
  }),
  keysDelete: operation({
    method: 'DELETE',
    path: '/keys/{id}',
    tag: 'API keys',
    scope: 'write',
    manage: true,
    summary: 'Revoke an API key',
    description:
      'The key stops working immediately. The last key with `manage` cannot be revoked. Personal keys can be revoked here too.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'USER', type: 'API_KEY_REVOKED' },
    example: { params: { id: '2' }, response: {} },
  }),
}
