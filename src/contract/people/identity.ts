// The identity provider of an organisation: OpenID Connect settings and their test. [contract 11.oidc]

import Type from 'typebox'
import { hugeBodyBytes, operation } from '../operation.ts'
import { Int32, OneOf, Shape, SingleLineText, Timestamp } from '../shape.ts'
import { roles } from './permissions.ts'

const GroupRole = Shape('GroupRole', {
  group: SingleLineText(100, 'A value of the groups claim.'),
  role: OneOf(
    roles.filter((role) => role !== 'owner'),
    'The role of the members of the group. A group cannot give the role of an owner.',
  ),
  allRegions: Type.Optional(
    Type.Boolean({ description: 'Whether the members of the group see the whole organisation.' }),
  ),
  regionIds: Type.Optional(Type.Array(Int32('Identifier of a region.'), { maxItems: 50 })),
})

const settings = {
  issuer: Type.String({ maxLength: 500, description: 'The issuer URL of the provider, as its tokens name it.' }),
  clientId: SingleLineText(200, 'The client id that the provider gave this service.'),
  scopes: Type.Array(SingleLineText(50, 'A scope.'), {
    maxItems: 10,
    description: 'The scopes to request; openid is always requested.',
  }),
  groupsClaim: SingleLineText(100, 'The claim that has the groups of a person.'),
  groupRoles: Type.Array(GroupRole, {
    maxItems: 20,
    description:
      'Role and regions by group; the first match counts. If the list is not empty, people in none of these groups cannot sign in.',
  }),
  trustedDomains: Type.Array(SingleLineText(253, 'A domain.'), {
    maxItems: 10,
    description: 'E-mail addresses of these domains count as verified.',
  }),
  createUsers: Type.Boolean({
    description: 'Whether people who have a role by group become users without an invitation.',
  }),
  passkeys: Type.Boolean({ description: 'Whether people may sign in with passkeys; default true.' }),
  enabled: Type.Boolean({
    description:
      'Whether people may sign in with the provider. Setting it to true needs a successful test of these settings within the last hour.',
  }),
}

export const Identity = Shape('Identity', {
  issuer: Type.Optional(settings.issuer),
  clientId: Type.Optional(settings.clientId),
  hasClientSecret: Type.Boolean({ description: 'Whether a client secret is stored. The secret is never returned.' }),
  scopes: settings.scopes,
  groupsClaim: settings.groupsClaim,
  groupRoles: settings.groupRoles,
  trustedDomains: settings.trustedDomains,
  createUsers: settings.createUsers,
  passkeys: settings.passkeys,
  enabled: settings.enabled,
  testedAt: Type.Optional(
    Timestamp('Time of the last test of exactly these settings; absent if they were never tested.'),
  ),
  callbackUrl: Type.Optional(Type.String({ description: 'The redirect URI to enter at the provider.' })),
  backchannelUrl: Type.Optional(
    Type.String({ description: 'The address to enter at the provider for back-channel logout.' }),
  ),
  problem: Type.Optional(
    Type.String({ description: 'Reason why people cannot sign in with the provider, and what to do.' }),
  ),
  passkeyProblem: Type.Optional(Type.String({ description: 'Reason why passkeys cannot be used, and what to do.' })),
})

const example = {
  issuer: 'https://login.example.org',
  clientId: 'roomkeeper',
  hasClientSecret: true,
  scopes: ['openid', 'email', 'profile'],
  groupsClaim: 'groups',
  groupRoles: [{ group: 'av-team', role: 'operator', regionIds: [11] }],
  trustedDomains: [],
  createUsers: false,
  passkeys: true,
  enabled: false,
  callbackUrl: 'https://rooms.example.org/auth/LXJ45kN/oidc/callback',
  backchannelUrl: 'https://rooms.example.org/auth/LXJ45kN/oidc/backchannel',
}

export const identityOperations = {
  identityGet: operation({
    method: 'GET',
    path: '/identity',
    tag: 'Identity',
    scope: 'read',
    manage: true,
    summary: 'Read the sign-in settings',
    response: Identity,
    versioned: true,
    example: { response: example },
  }),
  identityUpdate: operation({
    method: 'PUT',
    path: '/identity',
    tag: 'Identity',
    scope: 'write',
    manage: true,
    summary: 'Change the sign-in settings',
    description:
      'An absent key keeps its value. `enabled: true` needs a test of these settings within the last hour, by a person who would sign in as an owner. A new issuer or clientId clears the client secret, the identities of users and their sessions.',
    body: Shape('IdentityUpdateRequest', {
      issuer: Type.Optional(settings.issuer),
      clientId: Type.Optional(settings.clientId),
      clientSecret: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 1000 }), Type.Null()], {
          description:
            'The secret that the provider gave this service. The service stores it encrypted; null removes it.',
        }),
      ),
      scopes: Type.Optional(settings.scopes),
      groupsClaim: Type.Optional(settings.groupsClaim),
      groupRoles: Type.Optional(settings.groupRoles),
      trustedDomains: Type.Optional(settings.trustedDomains),
      createUsers: Type.Optional(settings.createUsers),
      passkeys: Type.Optional(settings.passkeys),
      enabled: Type.Optional(settings.enabled),
    }),
    bodyLimitBytes: hugeBodyBytes,
    response: Identity,
    versioned: true,
    ifMatch: true,
    audit: { category: 'USER', type: 'IDENTITY_UPDATED' },
    example: {
      body: { issuer: example.issuer, clientId: example.clientId, clientSecret: 'S3cret', enabled: false },
      response: example,
    },
  }),
  identityTest: operation({
    method: 'POST',
    path: '/identity/test',
    tag: 'Identity',
    scope: 'write',
    manage: true,
    summary: 'Create an address that tests the settings by a sign-in at the provider',
    description:
      'A person who opens the address signs in at the provider and sees how they would sign in. The test changes nothing.',
    response: Shape('IdentityTestResponse', {
      url: Type.String({ description: 'The address to open in a browser.' }),
    }),
    repeat: 'secret',
    audit: { category: 'USER', type: 'IDENTITY_TESTED' },
    example: { response: { url: 'https://rooms.example.org/auth/LXJ45kN/oidc?test=…' } },
  }),
}
