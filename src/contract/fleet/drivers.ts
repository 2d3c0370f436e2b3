// The drivers of a gateway: which devices each of them manages, which fields its items have, and what it reads and does. [contract 13.drivers]

import Type, { type Static } from 'typebox'
import { deviceActions, endpointKinds } from '../device/models.ts'
import { OneOf, Shape } from '../shape.ts'

export const driverIds = ['roomos', 'pjlink', 'snmp', 'reach'] as const
export type DriverId = (typeof driverIds)[number]
export const DriverName = OneOf(driverIds, 'Identifier of the driver. Values can be added.')

/** Drivers that find many devices by themselves, at one address. Their devices are items that a person adopts. [contract 15.sources] */
export const sourceTypes = ['neat-pulse', 'mqtt'] as const
export type SourceType = (typeof sourceTypes)[number]
export type ItemDriverId = DriverId | SourceType
/** Settings of a mirrored device come from its source, with the profiles there, and none of ours is sent to it. [contract 15.devices] */
export const hasProfilesOfSource = (sourceType: SourceType | null | undefined): boolean => sourceType === 'neat-pulse'
export const isSourceType = (driver: ItemDriverId): driver is SourceType => sourceTypes.some((type) => type === driver)
export const ItemDriverName = OneOf(
  [...driverIds, ...sourceTypes],
  'Identifier of the driver, or type of the source that the device belongs to. Values can be added.',
)

/** The value of an option of an item. */
export type DriverOption = string | number | boolean
const optionValue = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

const DriverField = Shape('GatewayDriverField', {
  name: Type.String({ description: 'Name of the field.' }),
  label: Type.String({ description: 'Name of the field for a form.' }),
  help: Type.Optional(Type.String({ description: 'Hint for the person who enters the value.' })),
  isOption: Type.Boolean({
    description: 'Whether the field is a key of `options`; otherwise it is a key of the item.',
  }),
  type: OneOf(['TEXT', 'NUMBER', 'BOOLEAN', 'CHOICE'], 'Type of the value.'),
  required: Type.Boolean({ description: 'Whether an item must have a value.' }),
  secret: Type.Boolean({ description: 'Whether answers never contain the value.' }),
  bindsSecrets: Type.Boolean({
    description: 'Whether a change of the value deletes the secrets and the fingerprint of the item.',
  }),
  default: Type.Optional(Type.Union([...optionValue.anyOf], { description: 'The value of an item that has none.' })),
  choices: Type.Optional(
    Type.Array(Shape('GatewayDriverChoice', { value: Type.String(), label: Type.String() }), {
      description: 'The values of a CHOICE.',
    }),
  ),
  min: Type.Optional(Type.Number({ description: 'The smallest NUMBER.' })),
  max: Type.Optional(Type.Number({ description: 'The largest NUMBER, or the most characters of a TEXT.' })),
  onlyIf: Type.Optional(
    Shape(
      'GatewayDriverFieldCondition',
      { option: Type.String(), values: Type.Array(Type.String()) },
      { description: 'The field has a meaning only while this option has one of these values.' },
    ),
  ),
})
export type DriverField = Static<typeof DriverField>

export const DriverDescription = Shape('GatewayDriver', {
  id: DriverName,
  name: Type.String({ description: 'Name for people.' }),
  manages: Type.String({ description: 'The devices that the driver is for.' }),
  kinds: Type.Array(OneOf(endpointKinds, 'Kind of a device.'), { description: 'Kinds of the devices.' }),
  defaultPort: Type.Integer({ description: 'The port of an item that has none.' }),
  fields: Type.Array(DriverField, { description: 'The fields of an item, in the order of a form.' }),
  reads: Type.Array(Type.String(), { description: 'Everything that the driver can read, in words.' }),
  actions: Type.Array(OneOf(deviceActions, 'An action.'), {
    description: 'Actions that the driver can carry out. A device can have fewer; its endpoint lists them.',
  }),
})
export type DriverDescription = Static<typeof DriverDescription>

type FieldValues = Partial<DriverField> & Pick<DriverField, 'name' | 'label'>
const field = (values: FieldValues): DriverField => ({
  isOption: false,
  type: 'TEXT',
  required: false,
  secret: false,
  bindsSecrets: false,
  ...values,
})
const option = (values: FieldValues): DriverField => field({ isOption: true, ...values })
const choice = (values: FieldValues, choices: Readonly<Record<string, string>>): DriverField =>
  option({ type: 'CHOICE', choices: Object.entries(choices).map(([value, label]) => ({ value, label })), ...values })

export const maxHostLength = 253
const host = field({
  name: 'host',
  label: 'Address',
  help: 'IP address or name in the network of the gateway.',
  required: true,
  bindsSecrets: true,
  max: maxHostLength,
})
const port = (defaultPort: number) =>
  field({ name: 'port', label: 'Port', type: 'NUMBER', default: defaultPort, min: 1, max: 65535, bindsSecrets: true })
export const maxSecretLength = 255
const secret = (values: Partial<DriverField>) =>
  field({ name: 'secret', label: 'Password', secret: true, max: maxSecretLength, ...values })
const pollSeconds = (seconds: number) =>
  option({
    name: 'pollSeconds',
    label: 'Seconds between two readings',
    type: 'NUMBER',
    default: seconds,
    min: 5,
    max: 3600,
  })

const hours = (name: string, label: string) =>
  option({ name, label, help: '0 leaves it to the device.', type: 'NUMBER', default: 0, min: 0, max: 100_000 })

const onlyVersion3 = { option: 'version', values: ['3'] }
const onlyHttp = { option: 'check', values: ['http', 'https'] }

export const drivers: Readonly<Record<DriverId, DriverDescription>> = {
  roomos: {
    id: 'roomos',
    name: 'Cisco RoomOS codec',
    manages: 'Cisco Room, Board, Desk and Codec devices with RoomOS, or with CE 9.15 and later',
    kinds: ['CODEC'],
    defaultPort: 443,
    fields: [
      host,
      port(443),
      field({
        name: 'username',
        label: 'User',
        help: 'A local user of the codec with the role Admin.',
        required: true,
        max: 255,
      }),
      secret({ required: true }),
      option({
        name: 'losesPowerWithDisplay',
        label: 'Loses its power with the display',
        help: 'A codec that a display powers is asleep while it is away, not offline.',
        type: 'BOOLEAN',
        default: false,
      }),
    ],
    reads: [
      'Model, serial number and software version',
      'Power, uptime and calls',
      'People, temperature and humidity',
      'Network, time server, volume and inputs',
      'Panels, cameras and microphones',
      'Faults that the codec diagnoses',
      'Settings that correspond exactly to settings of Roomkeeper',
    ],
    actions: ['reboot', 'message', 'config', 'power'],
  },
  pjlink: {
    id: 'pjlink',
    name: 'Projector or display with PJLink',
    manages: 'Projectors and displays of most makers, with PJLink class 1 or 2',
    kinds: ['PROJECTOR', 'DISPLAY'],
    defaultPort: 4352,
    fields: [
      host,
      port(4352),
      secret({ help: 'The PJLink password; empty if the projector asks for none.' }),
      choice(
        {
          name: 'challenge',
          label: 'Sign-in',
          help: 'Choose SHA-256 only if the password must never be sent as MD5.',
          default: 'auto',
          bindsSecrets: true,
        },
        { auto: 'SHA-256 if the projector has it, else MD5', md5: 'MD5 only', sha256: 'SHA-256 only' },
      ),
      option({
        name: 'keepOpen',
        label: 'Keep the connection open',
        help: 'By default the gateway connects, asks and closes, because the control system of the room needs its turn.',
        type: 'BOOLEAN',
        default: false,
      }),
      option({
        name: 'pauseMs',
        label: 'Milliseconds between two commands',
        type: 'NUMBER',
        default: 200,
        min: 200,
        max: 500,
      }),
      choice({ name: 'kind', label: 'Kind', default: 'PROJECTOR' }, { PROJECTOR: 'Projector', DISPLAY: 'Display' }),
      hours('lampLifeHours', 'Hours that a lamp lasts'),
      hours('filterLifeHours', 'Hours that a filter lasts'),
      pollSeconds(20),
    ],
    reads: [
      'Maker and model; with class 2 also serial number and software version',
      'Power, with warm-up and cool-down',
      'Inputs, the active input, mute; with class 2 also the resolution',
      'Hours of lamps and filters',
      'Faults of fan, lamp, temperature, cover, filter and others',
    ],
    actions: ['power'],
  },
  snmp: {
    id: 'snmp',
    name: 'Network device, PDU, UPS or DSP with SNMP',
    manages:
      'Switches, power distribution units, uninterruptible power supplies, DSPs and old codecs with SNMP v2c or v3',
    kinds: ['NETWORK', 'POWER', 'AUDIO', 'CODEC', 'OTHER'],
    defaultPort: 161,
    fields: [
      host,
      port(161),
      choice({ name: 'version', label: 'SNMP version', default: '2c', bindsSecrets: true }, { '2c': 'v2c', '3': 'v3' }),
      field({ name: 'username', label: 'User', help: 'The user of SNMP v3.', max: 255, onlyIf: onlyVersion3 }),
      secret({
        label: 'Community or password',
        help: 'With v2c the community, with v3 the authentication password.',
      }),
      choice(
        {
          name: 'authProtocol',
          label: 'Authentication',
          default: 'sha256',
          bindsSecrets: true,
          onlyIf: onlyVersion3,
        },
        {
          none: 'None',
          md5: 'MD5',
          sha: 'SHA-1',
          sha224: 'SHA-224',
          sha256: 'SHA-256',
          sha384: 'SHA-384',
          sha512: 'SHA-512',
        },
      ),
      choice(
        { name: 'privProtocol', label: 'Encryption', default: 'aes', bindsSecrets: true, onlyIf: onlyVersion3 },
        { none: 'None', aes: 'AES-128', aes256b: 'AES-256 (Blumenthal)', aes256r: 'AES-256 (Reeder, Cisco)' },
      ),
      option({
        name: 'privSecret',
        label: 'Encryption password',
        help: 'Empty if it is the authentication password.',
        secret: true,
        max: maxSecretLength,
        onlyIf: onlyVersion3,
      }),
      pollSeconds(20),
    ],
    reads: [
      'Name, maker, model and uptime of the agent',
      'Network interfaces',
      'UPS: on battery, and charge, as faults',
    ],
    actions: [],
  },
  reach: {
    id: 'reach',
    name: 'Anything with a network port',
    manages: 'Room PCs, panels, wireless presentation and other devices of which only a port is known',
    kinds: ['COMPUTER', 'CONTROLLER', 'PRESENTATION', 'OTHER'],
    defaultPort: 443,
    fields: [
      host,
      port(443),
      choice(
        { name: 'check', label: 'Check', default: 'https', bindsSecrets: true },
        {
          tcp: 'The port is open',
          tls: 'The port is open and has a certificate',
          http: 'A web page answers (HTTP)',
          https: 'A web page answers (HTTPS)',
        },
      ),
      option({ name: 'path', label: 'Path of the page', default: '/', max: 255, onlyIf: onlyHttp }),
      option({
        name: 'expectedText',
        label: 'Text that the page must contain',
        help: 'Empty if any page will do.',
        default: '',
        max: 255,
        onlyIf: onlyHttp,
      }),
      option({
        name: 'expectedStatus',
        label: 'Status that the page must have',
        help: '0 if any status below 500 will do.',
        type: 'NUMBER',
        default: 0,
        min: 0,
        max: 599,
        onlyIf: onlyHttp,
      }),
      option({
        name: 'certificateDays',
        label: 'Warn if the certificate ends within days',
        type: 'NUMBER',
        default: 21,
        min: 0,
        max: 365,
        onlyIf: { option: 'check', values: ['tls', 'https'] },
      }),
      choice(
        { name: 'kind', label: 'Kind', default: 'OTHER' },
        { COMPUTER: 'Computer', CONTROLLER: 'Controller', PRESENTATION: 'Wireless presentation', OTHER: 'Other' },
      ),
      option({ name: 'manufacturer', label: 'Maker', default: '', max: 64 }),
      option({ name: 'model', label: 'Model', default: '', max: 64 }),
      pollSeconds(20),
    ],
    reads: [
      'Whether the device answers, and how long an answer takes',
      'The end of its certificate',
      'Status and text of a web page',
    ],
    actions: [],
  },
}

/** The options of an item with the defaults of its driver. */
export const optionsWithDefaults = (
  driver: ItemDriverId,
  options: Readonly<Record<string, DriverOption>>,
): Record<string, DriverOption> => ({
  ...Object.fromEntries(
    (isSourceType(driver) ? [] : drivers[driver].fields).flatMap(({ isOption, name, default: value }) =>
      isOption && value !== undefined ? [[name, value]] : [],
    ),
  ),
  ...options,
})
