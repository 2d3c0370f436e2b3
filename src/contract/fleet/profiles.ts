// Profiles: named configs that rooms and endpoints share. [contract 5.4.profile] [contract 6.profiles]

import Type from 'typebox'
import { DeviceSettings, ProfileConfig } from '../device/config-keys.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Empty, Int32, ListOf, MultilineText, Name, OneOf, Shape, Timestamp } from '../shape.ts'
import { ExternalId, SentExternalId } from './custom-fields.ts'
import { endpointName, exampleEndpointId } from './endpoints.ts'

const id = Int32('Identifier of the profile.')

const Profile = Shape('webpageProfile', {
  id,
  name: Type.String({ description: 'Name of the profile.' }),
  description: Type.Optional(Type.String({ description: 'The purpose of the profile.' })),
  configId: Int32('A number that changes with each change of the config.'),
  externalId: ExternalId('profiles'),
})
export const ProfileWithConfig = Shape('webpageProfileWithConfig', { profile: Profile, config: DeviceSettings })

const body = {
  name: Name('profile'),
  description: Type.Optional(
    Type.Union([MultilineText(1024, 'The purpose of the profile.'), Type.Null(), Type.Literal('')]),
  ),
  config: ProfileConfig,
  externalId: SentExternalId('profiles'),
}
const profile = { id: 2, name: 'Quiet rooms', description: 'Dark and silent at night', configId: 5 }
const config = { nightMode: true, brightness: 0.4 }
const example = { profile, config }
const sent = { name: profile.name, description: profile.description, config }

const n = Int32('Number of the version.')
const Value = Type.Unsafe<boolean | number | string>({ type: ['boolean', 'number', 'string'] })
const ProfileVersion = Shape('ProfileVersion', {
  version: n,
  createdAt: Timestamp('Time at which the version was created.'),
  author: Shape('ProfileVersionAuthor', { type: Type.String(), id: Type.String(), name: Type.String() }),
  name: Type.String({ description: 'Name of the profile in this version.' }),
  description: Type.Optional(Type.String({ description: 'Description of the profile in this version.' })),
  config: DeviceSettings,
  diff: Type.Record(
    Type.String(),
    Shape('ProfileVersionDiff', { before: Type.Optional(Value), after: Type.Optional(Value) }),
    { description: 'The changed keys with their values before and after; passwords are masked.' },
  ),
})
const version = {
  version: 4,
  createdAt: '2026-05-04T08:15:30.000Z',
  author: { type: 'USER', id: '4', name: 'Ada' },
  name: profile.name,
  description: profile.description,
  config,
  diff: { nightMode: { before: false, after: true } },
}
const Reach = Shape('ProfileReach', {
  roomCount: Int32('How many rooms have the profile, or an endpoint with it.'),
  endpointCount: Int32('How many endpoints have the profile.'),
  deliveredCount: Int32('How many of these endpoints have confirmed their settings.'),
  pendingCount: Int32('How many of these endpoints have not confirmed their settings yet.'),
  rejectedCount: Int32('How many of these endpoints rejected a setting.'),
  notForDeviceCount: Int32('How many of these endpoints do not have some of the settings.'),
  rooms: Type.Array(
    Shape('ProfileReachRoom', {
      id: Int32('Identifier of the room.'),
      name: Type.String({ description: 'Name of the room.' }),
      assigned: Type.Boolean({ description: 'Whether the room itself has the profile.' }),
      endpoints: Type.Array(
        Shape('ProfileReachEndpoint', {
          id: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }),
          model: Type.String({ description: 'Model of the endpoint.' }),
          name: endpointName,
          serial: Type.String({ description: 'Serial number of the endpoint.' }),
          state: OneOf(
            ['PENDING', 'DELIVERED', 'FAILED'],
            'State of the settings. FAILED: the endpoint rejected some of them.',
          ),
          notForDevice: Type.Optional(
            Type.Array(Type.String(), {
              description: 'Keys of the profile that the device does not have; absent if it has all of them.',
            }),
          ),
          error: Type.Optional(
            Type.String({ description: 'The settings that the endpoint rejected, with the reasons.' }),
          ),
        }),
      ),
    }),
    { description: 'The first 1000 rooms: first the rooms with a rejected setting, then the others, each by id.' },
  ),
})

export const profileOperations = {
  profilesList: operation({
    method: 'GET',
    path: '/profiles',
    tag: 'Profiles',
    scope: 'read',
    summary: 'List the profiles',
    response: ListOf('webpageProfileList', 'profiles', Profile),
    example: { response: { profiles: [profile] } },
  }),
  profilesGet: operation({
    method: 'GET',
    path: '/profiles/{id}',
    tag: 'Profiles',
    scope: 'read',
    summary: 'Read a profile and its config',
    params: { id },
    response: ProfileWithConfig,
    versioned: true,
    example: { params: { id: 2 }, response: example },
  }),
  profilesCreate: operation({
    method: 'POST',
    path: '/profiles',
    tag: 'Profiles',
    scope: 'write',
    everywhere: true,
    summary: 'Create a profile',
    body: Shape('ProfilesCreateRequest', body),
    bodyLimitBytes: largeBodyBytes,
    response: ProfileWithConfig,
    versioned: true,
    audit: { category: 'ORG', type: 'PROFILE_CREATED' },
    example: { body: sent, response: example },
  }),
  profilesUpdate: operation({
    method: 'PUT',
    path: '/profiles/{id}',
    tag: 'Profiles',
    scope: 'write',
    everywhere: true,
    summary: 'Replace name, description and config of a profile',
    description:
      'An absent description is cleared; an absent `externalId` stays, and null clears it. A config key that is absent or null is no longer locked by the profile. A password that is absent stays as it is, because passwords are never returned.',
    params: { id },
    body: Shape('ProfilesUpdateRequest', body),
    bodyLimitBytes: largeBodyBytes,
    response: ProfileWithConfig,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'PROFILE_UPDATED' },
    example: { params: { id: 2 }, body: sent, response: example },
  }),
  profilesDelete: operation({
    method: 'DELETE',
    path: '/profiles/{id}',
    tag: 'Profiles',
    scope: 'write',
    everywhere: true,
    summary: 'Delete a profile that is not in use',
    description: 'Fails with FAILED_PRECONDITION while a room or an endpoint has the profile.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'PROFILE_DELETED' },
    example: { params: { id: 2 }, response: {} },
  }),
  profilesReach: operation({
    method: 'GET',
    path: '/profiles/{id}/reach',
    tag: 'Profiles',
    scope: 'read',
    summary: 'Read which rooms and endpoints have a profile, and how many rejected it',
    params: { id },
    response: Reach,
    example: {
      params: { id: 2 },
      response: {
        roomCount: 24,
        endpointCount: 64,
        deliveredCount: 60,
        pendingCount: 3,
        rejectedCount: 1,
        notForDeviceCount: 2,
        rooms: [
          {
            id: 7,
            name: 'Fjord',
            assigned: true,
            endpoints: [{ id: exampleEndpointId, model: 'NF19B1', serial: 'NB11938000123', state: 'DELIVERED' }],
          },
        ],
      },
    },
  }),
  profileVersionsList: operation({
    method: 'GET',
    path: '/profiles/{id}/versions',
    tag: 'Profiles',
    scope: 'read',
    summary: 'List the newest 200 versions of a profile, newest first',
    params: { id },
    response: ListOf('ProfileVersionList', 'versions', ProfileVersion),
    example: { params: { id: 2 }, response: { versions: [version] } },
  }),
  profileVersionsGet: operation({
    method: 'GET',
    path: '/profiles/{id}/versions/{n}',
    tag: 'Profiles',
    scope: 'read',
    summary: 'Read one version of a profile',
    params: { id, n },
    response: ProfileVersion,
    example: { params: { id: 2, n: 4 }, response: version },
  }),
  profilesRestore: operation({
    method: 'POST',
    path: '/profiles/{id}/versions/{n}/restore',
    tag: 'Profiles',
    scope: 'write',
    everywhere: true,
    summary: 'Restore a version of a profile',
    description: 'A new version is created. Passwords of the old version are restored too.',
    params: { id, n },
    response: ProfileWithConfig,
    versioned: true,
    ifMatch: true,
    audit: { category: 'ORG', type: 'PROFILE_UPDATED' },
    example: { params: { id: 2, n: 4 }, response: example },
  }),
}
