// Device config: the desired settings of an endpoint, and their versions. [contract 5.3] [contract 6.configVersions]

import Type from 'typebox'
import { DeviceConfig, DeviceSettings, EndpointSettings } from '../device/config-keys.ts'
import { largeBodyBytes, operation } from '../operation.ts'
import { Int32, ListOf, OneOf, Shape, Timestamp } from '../shape.ts'
import { exampleEndpointId } from './endpoints.ts'

const configStates = ['PENDING', 'DELIVERED', 'FAILED', 'SUPERSEDED'] as const
export type ConfigState = (typeof configStates)[number]

const id = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })
const n = Int32('Number of the version.')
const state = OneOf(
  configStates,
  'PENDING: the device has not confirmed the version yet. DELIVERED: the device has applied it. FAILED: the device refused a key. SUPERSEDED: a newer version replaced it.',
)
const error = Type.Optional(Type.String({ description: 'Reason why the device refused a key.' }))

const Applied = Shape('webpageEndpointApplyConfigResponse', { config: EndpointSettings })

const Value = Type.Unsafe<boolean | number | string>({ type: ['boolean', 'number', 'string'] })
export const ConfigVersion = Shape('webpageConfigVersion', {
  version: n,
  state,
  error,
  createdAt: Timestamp('Time at which the version was created.'),
  updatedAt: Timestamp('Time at which the state of the version last changed.'),
  author: Shape('webpageConfigAuthor', { type: Type.String(), id: Type.String(), name: Type.String() }),
  profileId: Type.Optional(Int32('The profile whose keys were applied over the config of the endpoint.')),
  jobId: Type.Optional(Type.String({ description: 'The job that made the version.' })),
  config: DeviceSettings,
  diff: Type.Record(
    Type.String(),
    Shape('webpageConfigDiff', { before: Type.Optional(Value), after: Type.Optional(Value) }),
    { description: 'The changed keys with their values before and after; passwords are masked.' },
  ),
})

const version = {
  version: 3,
  state: 'DELIVERED',
  createdAt: '2026-05-04T08:15:30.000Z',
  updatedAt: '2026-05-04T08:15:31.000Z',
  author: { type: 'KEY', id: '1', name: 'First key' },
  config: { nightMode: true },
  diff: { nightMode: { before: false, after: true } },
}

export const configOperations = {
  endpointsSettings: operation({
    method: 'GET',
    path: '/endpoints/{id}/config',
    tag: 'Config',
    scope: 'read',
    summary: 'Read the settings of an endpoint',
    description:
      'The answer has the keys that were set for this endpoint, as last applied, and then the keys that only its device reports. Keys that its profile locks are left out. Passwords are never returned. configStateGet distinguishes set keys from reported ones.',
    params: { id },
    response: EndpointSettings,
    versioned: true,
    example: { params: { id: exampleEndpointId }, response: { nightMode: true, primaryMode: 'zoom', brightness: 0.8 } },
  }),
  endpointsApplyConfig: operation({
    method: 'POST',
    path: '/endpoints/{id}/config',
    tag: 'Config',
    scope: 'write',
    summary: 'Apply a config to an endpoint',
    description:
      'Only the keys that are sent change; null unsets a key. If the body has every key of the current answer of endpointsSettings, only the keys with another value are set. An endpoint that is offline gets the config when it reconnects.',
    params: { id },
    body: DeviceConfig,
    bodyLimitBytes: largeBodyBytes,
    bodyWrapper: 'deviceConfig',
    keepsNumberText: true,
    response: Applied,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_CONFIG_CHANGED' },
    example: {
      params: { id: exampleEndpointId },
      body: { nightMode: true },
      response: { config: { nightMode: true, primaryMode: 'zoom', brightness: 0.8 } },
    },
  }),
  configVersionsList: operation({
    method: 'GET',
    path: '/endpoints/{id}/config/versions',
    tag: 'Config',
    scope: 'read',
    summary: 'List the newest 200 config versions of an endpoint, newest first',
    params: { id },
    response: ListOf('webpageConfigVersionList', 'versions', ConfigVersion),
    example: { params: { id: exampleEndpointId }, response: { versions: [version] } },
  }),
  configVersionsGet: operation({
    method: 'GET',
    path: '/endpoints/{id}/config/versions/{n}',
    tag: 'Config',
    scope: 'read',
    summary: 'Read one config version',
    params: { id, n },
    response: ConfigVersion,
    example: { params: { id: exampleEndpointId, n: 3 }, response: version },
  }),
  configVersionsRestore: operation({
    method: 'POST',
    path: '/endpoints/{id}/config/versions/{n}/restore',
    tag: 'Config',
    scope: 'write',
    summary: 'Restore a config version of an endpoint',
    description: 'A new version is created. Passwords of the old version are restored too.',
    params: { id, n },
    response: Applied,
    versioned: true,
    ifMatch: true,
    audit: { category: 'DEVICE', type: 'DEVICE_CONFIG_CHANGED' },
    example: { params: { id: exampleEndpointId, n: 3 }, response: { config: { nightMode: true } } },
  }),
  configStateGet: operation({
    method: 'GET',
    path: '/endpoints/{id}/config/state',
    tag: 'Config',
    scope: 'read',
    command: 'config-state get',
    summary: 'Read the desired config and the config that the device reports',
    params: { id },
    response: Shape('webpageConfigState', {
      version: Int32('Number of the newest version; 0 if no config was ever applied.'),
      state,
      error,
      desired: DeviceSettings,
      profile: DeviceSettings,
      reported: EndpointSettings,
      rejected: Type.Record(Type.String(), Type.String(), {
        description:
          'Keys that the device refused, each with the reason. A refused key is sent again when its value changes, or when a job that set it is retried.',
      }),
      notForDevice: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'Desired keys that are not sent because the device does not have them; absent if there are none.',
        }),
      ),
    }),
    example: {
      params: { id: exampleEndpointId },
      response: {
        version: 3,
        state: 'DELIVERED',
        desired: { nightMode: true },
        profile: {},
        reported: { brightness: 0.8, nightMode: true, primaryMode: 'zoom' },
        rejected: {},
      },
    },
  }),
}
