// Profiles: named configs that rooms and endpoints share. [contract 5.4.profile] [contract 6.profiles]

import Type from 'typebox'
import { DeviceSettings, ProfileConfig } from './device/config-keys.ts'
import { largeBodyBytes, operation } from './operation.ts'
import { Empty, Int32, ListOf, MultilineText, Name, Shape } from './shape.ts'

const id = Int32('Identifier of the profile.')

const Profile = Shape('webpageProfile', {
  id,
  name: Type.String({ description: 'Name of the profile.' }),
  description: Type.Optional(Type.String({ description: 'What it is for.' })),
  configId: Int32('Changes whenever the config does.'),
})
export const ProfileWithConfig = Shape('webpageProfileWithConfig', { profile: Profile, config: DeviceSettings })

const body = {
  name: Name('profile'),
  description: Type.Optional(Type.Union([MultilineText(1024, 'What it is for.'), Type.Null(), Type.Literal('')])),
  config: ProfileConfig,
}
const profile = { id: 2, name: 'Quiet rooms', description: 'Dark and silent at night', configId: 5 }
const config = { nightMode: true, brightness: 0.4 }
const example = { profile, config }
const sent = { name: profile.name, description: profile.description, config }

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
      'An absent description is cleared. A config key that is absent or null is no longer fixed by the profile; only a password that is absent is kept, because it is never returned.',
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
    summary: 'Delete a profile that nothing has',
    description: 'Fails with FAILED_PRECONDITION while a room or an endpoint has the profile.',
    params: { id },
    response: Empty,
    ifMatch: true,
    audit: { category: 'ORG', type: 'PROFILE_DELETED' },
    example: { params: { id: 2 }, response: {} },
  }),
}
