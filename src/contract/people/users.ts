// Users: people who sign in, their roles and regions. [contract 11.user] [contract 6.users]

import Type from 'typebox'
import { csvList } from '../csv-list.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Bom, Empty, Int32, ListOf, OneOf, Shape, Timestamp } from '../shape.ts'
import { PersonName } from './me.ts'
import { roles } from './permissions.ts'

const id = Type.String({ description: 'Identifier of the user.' })
const Role = OneOf(roles, 'The role of the user. Owners see all regions.')
export const userStates = ['INVITED', 'ACTIVE', 'DISABLED'] as const
const State = OneOf(userStates, 'INVITED users have not signed in yet; DISABLED users cannot sign in.')
const RequestedState = OneOf(
  userStates,
  'DISABLED ends sessions and personal keys. INVITED and ACTIVE both enable the user again: the user is then ACTIVE if they have ever signed in, else INVITED.',
)

export const User = Shape('webpageUser', {
  id,
  email: Type.String({ description: 'E-mail address.' }),
  name: Type.Optional(Type.String({ description: 'Name of the person.' })),
  role: Role,
  allRegions: Type.Boolean({ description: 'Whether the user sees the whole organisation. Owners always do.' }),
  regionIds: Type.Array(Int32('Identifier of a region.'), {
    description:
      'The regions that the user sees, if they do not see the whole organisation. With an empty list they see nothing.',
  }),
  state: State,
  signsInWith: Type.Array(OneOf(['oidc', 'passkey'], 'A way to sign in.'), {
    description: 'The ways to sign in that the user has set up. A sign-in link works for every user.',
  }),
  lastSeenAt: Type.Optional(Timestamp('Time at which the user last used the service; absent means never.')),
})

const name = PersonName
const allRegions = Type.Boolean({ description: 'Whether the user sees the whole organisation; default false.' })

const email = Type.String({
  maxLength: 254,
  format: 'email-address',
  description: 'E-mail address, unique in the organisation.',
})
const regionIds = Type.Array(Int32('Identifier of a region.'), { maxItems: 1000 })
const example = {
  id: '4',
  email: 'ada@example.org',
  role: 'admin',
  allRegions: false,
  regionIds: [11],
  state: 'INVITED',
  signsInWith: [],
}
const sent = { email: example.email, role: example.role, regionIds: example.regionIds }

export const UserSession = Shape('UserSession', {
  id: Type.String({ description: 'Identifier of the session.' }),
  via: OneOf(['oidc', 'passkey', 'link'], 'The way in which the person signed in.'),
  createdAt: Timestamp('Time of the sign-in.'),
  usedAt: Timestamp('Time at which the session was last used.'),
  ip: Type.Optional(Type.String({ description: 'IP address of the person at the sign-in.' })),
  browser: Type.Optional(Type.String({ description: 'Browser and operating system, as the browser reports them.' })),
})
export const sessionExample = {
  id: '7',
  via: 'passkey',
  createdAt: '2026-03-02T09:15:00.000Z',
  usedAt: '2026-03-02T11:40:00.000Z',
  ip: '192.0.2.14',
  browser: 'Firefox on Linux',
}

export const userOperations = {
  usersList: operation({
    method: 'GET',
    path: '/users',
    tag: 'Users',
    scope: 'read',
    summary: 'List the users',
    query: { bom: Bom },
    response: ListOf('webpageUserList', 'users', User),
    csv: true,
    csvList: csvList('users', 'users', User),
    example: { response: { users: [example] } },
  }),
  usersGet: operation({
    method: 'GET',
    path: '/users/{id}',
    tag: 'Users',
    scope: 'read',
    summary: 'Read a user',
    params: { id },
    response: User,
    versioned: true,
    example: { params: { id: '4' }, response: example },
  }),
  usersCreate: operation({
    method: 'POST',
    path: '/users',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Create a user',
    description: 'The user may sign in with the identity provider. usersInvite makes a sign-in link for a user.',
    body: Shape('UsersCreateRequest', {
      email,
      role: Role,
      name: Type.Optional(name),
      allRegions: Type.Optional(allRegions),
      regionIds: Type.Optional(regionIds),
      state: Type.Optional(RequestedState),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: User,
    versioned: true,
    audit: { category: 'USER', type: 'USER_CREATED' },
    example: { body: sent, response: example },
  }),
  usersUpdate: operation({
    method: 'PUT',
    path: '/users/{id}',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Change a user',
    description:
      'An absent key keeps its value. The last owner cannot be demoted. The last owner who can sign in cannot be demoted or disabled. DISABLED ends all sessions and personal keys immediately.',
    params: { id },
    body: Shape('UsersUpdateRequest', {
      email: Type.Optional(email),
      role: Type.Optional(Role),
      name: Type.Optional(Type.Union([name, Type.Null()])),
      allRegions: Type.Optional(allRegions),
      regionIds: Type.Optional(regionIds),
      state: Type.Optional(RequestedState),
    }),
    bodyLimitBytes: largeBodyBytes,
    response: User,
    versioned: true,
    ifMatch: true,
    audit: { category: 'USER', type: 'USER_UPDATED' },
    example: { params: { id: '4' }, body: sent, response: example },
  }),
  usersDelete: operation({
    method: 'DELETE',
    path: '/users/{id}',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Delete a user',
    description:
      'The sessions and personal keys of the user end. The last owner, and the last owner who can sign in, cannot be deleted.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'USER', type: 'USER_DELETED' },
    example: { params: { id: '4' }, response: {} },
  }),
  usersInvite: operation({
    method: 'POST',
    path: '/users/{id}/invite',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Create a link with which a user signs in and adds a passkey',
    description: 'The link works once, within 7 days. Earlier links of the user stop working.',
    params: { id },
    response: Shape('UsersInviteResponse', {
      url: Type.String({ description: 'The link. Save it: it is not shown again.' }),
      expiresAt: Timestamp('Time at which the link stops working.'),
      mailed: Type.Boolean({ description: 'Whether the link was sent to the user by mail.' }),
    }),
    repeat: 'secret',
    audit: { category: 'USER', type: 'USER_INVITED' },
    example: {
      params: { id: '4' },
      response: {
        url: 'https://rooms.example.org/sign-in#rki_…',
        expiresAt: '2026-03-09T09:15:00.000Z',
        mailed: false,
      },
    },
  }),
  usersUnlink: operation({
    method: 'POST',
    path: '/users/{id}/unlink',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Remove the identity, the passkeys and the personal keys of a user, and end their sessions',
    description: 'The user needs a new sign-in link (usersInvite). The last owner who can sign in cannot be unlinked.',
    params: { id },
    response: Empty,
    audit: { category: 'USER', type: 'USER_UNLINKED' },
    example: { params: { id: '4' }, response: {} },
  }),
  userSessionsList: operation({
    method: 'GET',
    path: '/users/{id}/sessions',
    tag: 'Users',
    scope: 'read',
    manage: true,
    summary: 'List the sessions of a user',
    params: { id },
    response: ListOf('UserSessionList', 'sessions', UserSession),
    example: { params: { id: '4' }, response: { sessions: [sessionExample] } },
  }),
  userSessionsDelete: operation({
    method: 'DELETE',
    path: '/users/{id}/sessions',
    tag: 'Users',
    scope: 'write',
    manage: true,
    summary: 'Sign a user out everywhere',
    params: { id },
    response: Empty,
    audit: { category: 'USER', type: 'SESSION_REVOKED' },
    example: { params: { id: '4' }, response: {} },
  }),
}
