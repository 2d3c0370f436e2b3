// The document of an organisation: what a file says about its sites, rooms, profiles, people, rules, channels and gateway devices.
import Type, { type Static, type TProperties, type TSchema } from 'typebox'
import { ProfileConfig } from '../contract/device/config-keys.ts'
import { incidentRules, type RuleId, ruleIds } from '../contract/incidents/rule-table.ts'
import { operations } from '../contract/operations.ts'
import { roles } from '../contract/people/permissions.ts'
import { Int32, OneOf, OptionalOrNull, SingleLineText } from '../contract/shape.ts'
import { WeeklyHours } from '../contract/weekly-hours.ts'

const closed = { additionalProperties: false }
const Entry = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description, ...closed })

export const variableNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'

/** A secret is never in a file: `apply` reads it from a variable of its environment. */
export const EnvSecret = Type.Object(
  {
    env: Type.String({
      pattern: variableNamePattern,
      description: 'Name of the environment variable that has the value.',
    }),
  },
  { description: 'A secret, which `apply` reads from an environment variable.', ...closed },
)
export type EnvSecret = Static<typeof EnvSecret>

const externalIdText = 'Identifier in another system of the organisation.'
/** Names another thing: by its name, by the names on the path to it, by its external id, or by its id in this document. */
const Reference = (noun: string, path: string) =>
  Type.Union(
    [
      Type.String({ minLength: 1 }),
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 3 }),
      Type.Object({ externalId: Type.String({ minLength: 1, description: externalIdText }) }, closed),
      Type.Object({ id: Int32(`Identifier of the ${noun}.`) }, closed),
    ],
    { description: `A ${noun}: ${path}, \`{externalId: …}\` or \`{id: …}\`.` },
  )
const regionReference = Reference('region', 'its name')
const locationReference = Reference('location', 'its name, or [region, location]')
const roomReference = Reference('room', 'its name, [location, room] or [region, location, room]')
const profileReference = Reference('profile', 'its name')
export type Reference = Static<typeof regionReference>

const id = (noun: string) => Type.Optional(Int32(`Identifier of the ${noun}. Another organisation ignores it.`))
const textId = (noun: string) =>
  Type.Optional(
    Type.String({ minLength: 1, description: `Identifier of the ${noun}. Another organisation ignores it.` }),
  )

// Fields of a region, location, room or profile are those of the request that makes it.
const { locationId, profileId, ...room } = operations.roomsCreate.body.properties
export const RoomEntry = Entry('A room.', { id: id('room'), ...room, profile: OptionalOrNull(profileReference) })
export type RoomEntry = Static<typeof RoomEntry>

/** The service checks the time zone of a location in its rule, and a document in its shape. */
export const siteTimeZoneFormat = 'site-timezone'
const { regionId, ...location } = operations.locationsCreate.body.properties
export const LocationEntry = Entry('A location.', {
  id: id('location'),
  ...location,
  timezone: OptionalOrNull(
    Type.String({
      format: siteTimeZoneFormat,
      description: 'A time zone such as Europe/Oslo; null means that of the organisation.',
    }),
  ),
  changeWindow: OptionalOrNull(WeeklyHours),
  rooms: Type.Optional(Type.Array(RoomEntry, { description: 'Rooms of the location.' })),
})
export type LocationEntry = Static<typeof LocationEntry>

const region = operations.regionsCreate.body.properties
export const RegionEntry = Entry('A region.', {
  id: id('region'),
  ...region,
  locations: Type.Optional(Type.Array(LocationEntry, { description: 'Locations of the region.' })),
})
export type RegionEntry = Static<typeof RegionEntry>

const configProperties = (ProfileConfig as unknown as { properties: Record<string, { anyOf: SecretShape[] }> })
  .properties
interface SecretShape extends TSchema {
  readonly writeOnly?: boolean
}
type ConfigEntry = Record<string, string | number | boolean | null | EnvSecret>
const Config = Type.Unsafe<ConfigEntry>({
  type: 'object',
  description: 'Settings that the profile locks. A password is `{env: NAME}`; null unlocks a setting.',
  properties: Object.fromEntries(
    Object.entries(configProperties).map(([name, shape]) => [
      name,
      shape.anyOf.some(({ writeOnly }) => writeOnly) ? Type.Union([EnvSecret, Type.Null()]) : shape,
    ]),
  ),
  ...closed,
})

const profile = operations.profilesCreate.body.properties
export const ProfileEntry = Entry('A profile.', { id: id('profile'), ...profile, config: Type.Optional(Config) })
export type ProfileEntry = Static<typeof ProfileEntry>

const user = operations.usersCreate.body.properties
export const UserEntry = Entry('A person who can sign in. Owners are not in a document.', {
  id: textId('user'),
  email: user.email,
  name: Type.Optional(Type.Union([SingleLineText(100, 'Name of the person.'), Type.Null()])),
  role: Type.Optional(
    OneOf(
      roles.filter((role) => role !== 'owner'),
      'Role of the person; needed for a new one.',
    ),
  ),
  allRegions: user.allRegions,
  regions: Type.Optional(Type.Array(regionReference, { maxItems: 1000, description: 'Regions that the person sees.' })),
  disabled: Type.Optional(Type.Boolean({ description: 'Whether the person cannot sign in.' })),
})
export type UserEntry = Static<typeof UserEntry>

const rule = operations.incidentRulesUpdate.body.properties
/** Each rule has limits of its own. */
const ruleEntry = (id: RuleId) => {
  const limits = Object.keys(incidentRules[id].limits).map((name) => [name, Type.Optional(Type.Number())])
  return Entry('Settings of an incident rule. Null restores the default.', {
    enabled: rule.enabled,
    severity: rule.severity,
    holdMinutes: rule.holdMinutes,
    clearMinutes: rule.clearMinutes,
    limits: OptionalOrNull(
      Type.Unsafe<Record<string, number>>(
        Type.Object(Object.fromEntries(limits), { description: 'The limits of the condition, by name.', ...closed }),
      ),
    ),
  })
}
export type RuleEntry = Static<ReturnType<typeof ruleEntry>>

const silence = operations.silencesCreate.body.properties
export const SilenceEntry = Entry('A weekly silence.', {
  id: textId('silence'),
  place: Type.Object(
    {
      region: Type.Optional(regionReference),
      location: Type.Optional(locationReference),
      room: Type.Optional(roomReference),
      endpoint: Type.Optional(Type.String({ minLength: 1, description: 'Serial number of the endpoint.' })),
      all: Type.Optional(Type.Literal(true, { description: 'The whole organisation.' })),
    },
    { minProperties: 1, maxProperties: 1, description: 'Exactly one place.', ...closed },
  ),
  rules: silence.rules,
  reason: silence.reason,
  weekly: WeeklyHours,
  to: silence.to,
})
export type SilenceEntry = Static<typeof SilenceEntry>

const channel = operations.channelsCreate.body.properties
export const ChannelEntry = Entry('A channel.', {
  id: textId('channel'),
  name: channel.name,
  kind: channel.kind,
  url: Type.Optional(EnvSecret),
  routingKey: Type.Optional(EnvSecret),
  to: channel.to,
  events: channel.events,
  minSeverity: channel.minSeverity,
  rules: channel.rules,
  regions: Type.Optional(
    Type.Array(regionReference, { maxItems: 100, description: 'Only messages about these regions; empty: all.' }),
  ),
  locations: Type.Optional(
    Type.Array(locationReference, { maxItems: 400, description: 'Only messages about these locations; empty: all.' }),
  ),
  enabled: channel.enabled,
  hours: channel.hours,
  heartbeatMinutes: channel.heartbeatMinutes,
})
export type ChannelEntry = Static<typeof ChannelEntry>

const item = operations.gatewayDevicesCreate.body.properties
export const GatewayDeviceEntry = Entry('A device behind a gateway.', {
  id: textId('item'),
  gateway: Type.String({ minLength: 1, description: 'Serial number of the gateway, or its name.' }),
  driver: item.driver,
  host: item.host,
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65535, description: 'Port; absent means that of the driver.' }),
  ),
  username: item.username,
  secret: OptionalOrNull(EnvSecret),
  options: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null(), EnvSecret]), {
      maxProperties: 32,
      description: 'Options of the driver. A secret option is `{env: NAME}`; null restores the default.',
    }),
  ),
  fingerprint: item.fingerprint,
  room: Type.Optional(roomReference),
  name: item.name,
})
export type GatewayDeviceEntry = Static<typeof GatewayDeviceEntry>

const endpoint = operations.endpointsUpdate.body.properties
export const EndpointEntry = Entry(
  'An endpoint that is enrolled. A document changes endpoints, and makes and deletes none.',
  {
    serial: Type.String({ minLength: 1, description: 'Serial number of the endpoint.' }),
    externalId: endpoint.externalId,
    name: endpoint.name,
    note: endpoint.note,
    assetTag: endpoint.assetTag,
    installedOn: endpoint.installedOn,
    warrantyUntil: endpoint.warrantyUntil,
    fields: endpoint.fields,
  },
)
export type EndpointEntry = Static<typeof EndpointEntry>

const list = <S extends TSchema>(shape: S, description: string) => Type.Optional(Type.Array(shape, { description }))

/** A section that is absent is left alone. In an entry an absent key is left alone, and null clears it. */
export const OrganisationDocument = Type.Object(
  {
    $schema: Type.Optional(Type.String({ description: 'Address of this schema, for editors.' })),
    organisation: Type.String({ minLength: 1, description: 'Identifier of the organisation.' }),
    regions: list(RegionEntry, 'Regions, with their locations and rooms.'),
    locations: list(LocationEntry, 'Locations without a region.'),
    rooms: list(RoomEntry, 'Rooms without a location.'),
    profiles: list(ProfileEntry, 'Profiles.'),
    endpoints: list(EndpointEntry, 'Endpoints, by serial number.'),
    gatewayDevices: list(GatewayDeviceEntry, 'Devices behind gateways.'),
    users: list(UserEntry, 'People, except owners.'),
    incidentRules: Type.Optional(
      Type.Unsafe<Record<string, RuleEntry>>({
        type: 'object',
        description: 'Settings of incident rules, by the identifier of the rule.',
        properties: Object.fromEntries(ruleIds.map((id) => [id, ruleEntry(id)])),
        ...closed,
      }),
    ),
    silences: list(SilenceEntry, 'Weekly silences.'),
    channels: list(ChannelEntry, 'Channels.'),
  },
  { title: 'Organisation', ...closed },
)
export type OrganisationDocument = Static<typeof OrganisationDocument>

/** The JSON Schema of the document, for editors. Some editors know no later draft for YAML, and all know this one. */
export const documentSchema = (): object => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...OrganisationDocument,
})
