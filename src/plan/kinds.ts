// The kinds of things in a document: their fields, how fields are compared, and the operations that write them.
import type { Kind, StepOperation } from './things.ts'

/**
 * How a field is compared. The keys of a `map` are fields of their own. A `secret` cannot be read. A `reference` names another thing, and
 * `references` are a list of such names.
 */
export type FieldKind = 'plain' | 'map' | 'secret' | 'reference' | 'references'

interface KindRow {
  readonly noun: string
  readonly fields: Readonly<Record<string, FieldKind>>
  readonly create?: StepOperation
  readonly update?: StepOperation
  readonly delete?: StepOperation
}

/** The console loads this file without the shapes of document.ts, so the fields are listed; test/house/document-fields.test.ts compares them. */
export const kindTable: Readonly<Record<Kind, KindRow>> = {
  region: {
    noun: 'region',
    fields: { name: 'plain', externalId: 'plain' },
    create: 'regionsCreate',
    update: 'regionsUpdate',
    delete: 'regionsDelete',
  },
  profile: {
    noun: 'profile',
    fields: { name: 'plain', externalId: 'plain', description: 'plain', config: 'map' },
    create: 'profilesCreate',
    update: 'profilesUpdate',
    delete: 'profilesDelete',
  },
  location: {
    noun: 'location',
    fields: {
      name: 'plain',
      externalId: 'plain',
      region: 'reference',
      timezone: 'plain',
      changeWindow: 'plain',
      address: 'plain',
      contact: 'plain',
    },
    create: 'locationsCreate',
    update: 'locationsUpdate',
    delete: 'locationsDelete',
  },
  room: {
    noun: 'room',
    fields: {
      name: 'plain',
      externalId: 'plain',
      location: 'reference',
      capacity: 'plain',
      tags: 'plain',
      floor: 'plain',
      contact: 'plain',
      fields: 'map',
      profile: 'reference',
    },
    create: 'roomsCreate',
    update: 'roomsUpdate',
    delete: 'roomsDelete',
  },
  endpoint: {
    noun: 'endpoint',
    fields: {
      serial: 'plain',
      name: 'plain',
      externalId: 'plain',
      note: 'plain',
      assetTag: 'plain',
      installedOn: 'plain',
      warrantyUntil: 'plain',
      fields: 'map',
    },
    update: 'endpointsUpdate',
  },
  gatewayDevice: {
    noun: 'gateway device',
    fields: {
      gateway: 'plain',
      driver: 'plain',
      host: 'plain',
      port: 'plain',
      username: 'plain',
      secret: 'secret',
      options: 'map',
      fingerprint: 'plain',
      room: 'reference',
      name: 'plain',
    },
    create: 'gatewayDevicesCreate',
    update: 'gatewayDevicesUpdate',
    delete: 'gatewayDevicesDelete',
  },
  user: {
    noun: 'user',
    fields: {
      email: 'plain',
      name: 'plain',
      role: 'plain',
      allRegions: 'plain',
      regions: 'references',
      disabled: 'plain',
    },
    create: 'usersCreate',
    update: 'usersUpdate',
  },
  incidentRule: {
    noun: 'incident rule',
    fields: { enabled: 'plain', severity: 'plain', holdMinutes: 'plain', clearMinutes: 'plain', limits: 'map' },
    update: 'incidentRulesUpdate',
  },
  silence: {
    noun: 'silence',
    fields: { place: 'reference', rules: 'plain', reason: 'plain', weekly: 'plain', to: 'plain' },
    create: 'silencesCreate',
    delete: 'silencesDelete',
  },
  channel: {
    noun: 'channel',
    fields: {
      name: 'plain',
      kind: 'plain',
      url: 'secret',
      routingKey: 'secret',
      to: 'plain',
      events: 'plain',
      minSeverity: 'plain',
      rules: 'plain',
      regions: 'references',
      locations: 'references',
      enabled: 'plain',
      hours: 'plain',
      heartbeatMinutes: 'plain',
    },
    create: 'channelsCreate',
    update: 'channelsUpdate',
    delete: 'channelsDelete',
  },
}
