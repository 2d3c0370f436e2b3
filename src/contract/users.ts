// Users: records of people. They are not used to sign in yet. [contract 5.4.user] [contract 6.users]

import Type from 'typebox'
import { largeBodyBytes, operation } from './operation.ts'
import { Empty, Int32, ListOf, OneOf, Shape } from './shape.ts'

const id = Type.String({ description: 'Identifier of the user.' })
const Role = OneOf(['owner', 'admin'], 'What the user may do.')

export const User = Shape('webpageUser', {
  id,
  email: Type.String({ description: 'E-mail address.' }),
  role: Role,
  regionIds: Type.Array(Int32('Identifier of a region.'), { description: 'The regions an admin looks after.' }),
})

const email = Type.String({
  maxLength: 254,
  format: 'email-address',
  description: 'E-mail address, unique in the organisation.',
})
const regionIds = Type.Array(Int32('Identifier of a region.'), { maxItems: 1000 })
const example = { id: '4', email: 'ada@example.org', role: 'admin', regionIds: [11] }
const sent = { email: example.email, role: example.role, regionIds: example.regionIds }

export const userOperations = {
  usersList: operation({
    method: 'GET',
    path: '/users',
    tag: 'Users',
    scope: 'read',
    summary: 'List the users',
    response: ListOf('webpageUserList', 'users', User),
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
    summary: 'Create a user record',
    description: 'This creates a record only: no mail is sent, and the user cannot sign in yet.',
    body: Shape('UsersCreateRequest', { email, role: Role, regionIds: Type.Optional(regionIds) }),
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
    summary: 'Change a user record',
    description: 'An absent key keeps its value. The last owner cannot be demoted.',
    params: { id },
    body: Shape('UsersUpdateRequest', {
      email: Type.Optional(email),
      role: Type.Optional(Role),
      regionIds: Type.Optional(regionIds),
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
    summary: 'Delete a user record',
    description: 'The last owner cannot be deleted.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'USER', type: 'USER_DELETED' },
    example: { params: { id: '4' }, response: {} },
  }),
}
