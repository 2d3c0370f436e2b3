// The table of device config keys: validation, OpenAPI, forms and the simulator read it; a new key is one line. [contract 5.3]
import Type, { type TSchema } from 'typebox'
import { int32 } from '../shape.ts'

export interface ConfigKey {
  readonly type: 'boolean' | 'number' | 'integer' | 'string' | 'enum'
  readonly min?: number
  readonly max?: number
  /** For an enum the only values, for a string the known ones (a form offers them, others are accepted). */
  readonly values?: readonly string[]
  readonly format?: 'timezone'
  /** Write-only: stored encrypted, never returned, masked in diffs. */
  readonly secret?: true
  readonly unit?: string
}

const bool: ConfigKey = { type: 'boolean' }
const text: ConfigKey = { type: 'string' }
const known = (...values: string[]): ConfigKey => ({ type: 'string', values })
/** `members` that start with an underscore are written with the prefix only; the others also without it. */
const closed = (prefix: string, ...members: string[]): ConfigKey => ({
  type: 'enum',
  values: [
    `${prefix}_UNKNOWN`,
    ...members.flatMap((m) => (m.startsWith('_') ? [`${prefix}${m}`] : [m, `${prefix}_${m}`])),
  ],
})

export const configKeys: Readonly<Record<string, ConfigKey>> = {
  allowNeatShare: bool,
  autoWakeup: bool,
  automaticUpdates: bool,
  bluetooth: bool,
  brightness: { type: 'number', min: 0, max: 1 },
  byodMode: bool,
  colorCorrection: known('disabled', 'deuteranomaly', 'protanomaly', 'tritanomaly'),
  concurrentAudioOverHdmi: bool,
  dateFormat: known('MM/dd/yyyy', 'yyyy/MM/dd', 'dd/MM/yyyy'),
  deepNoiseSuppression: bool,
  defaultFramingMode: closed('FRAMING_MODE', 'DISABLED', 'GROUP', 'INDIVIDUAL', 'SPEAKER'),
  digitalSignageTimeout: { type: 'integer' },
  fontSize: known('default', 'small', 'large', 'largest'),
  frameRatePreferred: bool,
  framingBoundaryDepth: { type: 'number' },
  framingBoundaryRadius: { type: 'number' },
  framingBoundaryWidth: { type: 'number' },
  hdmiCecControl: bool,
  hdmiScreenMirroring: bool,
  hdmiSleepSignal: bool,
  hideSlideOutMenu: bool,
  highContrast: bool,
  // biome-ignore format: one line for one key
  language: known('de', 'en-US', 'es', 'fr', 'it', 'ja', 'ko', 'nb', 'pl', 'pt', 'ru', 'sv', 'tr', 'zh-Hans', 'zh-Hant'),
  layoutMaxPersons: { type: 'integer' },
  layoutPriorityContext: closed('PRIORITY_CONTEXT', '_EQUAL', '_ROOM', '_INDIVIDUAL'),
  logLevel: text,
  muteInternalLoudspeaker: bool,
  nightMode: bool,
  ntpServer: text,
  padMicEnabled: bool,
  remoteAccessAdminPassword: { type: 'string', secret: true },
  remoteAccessEnabled: bool,
  screenDetection: bool,
  screenReader: bool,
  screenStandby: { type: 'integer', unit: 'ms' },
  screenStayOn: bool,
  settingsPassword: { type: 'string', secret: true },
  settingsPasswordRequired: bool,
  shareAnalytics: bool,
  temperatureUnit: closed('TEMPERATURE_UNIT', '_CELSIUS', '_FAHRENHEIT'),
  time24h: bool,
  timezone: { type: 'string', format: 'timezone' },
  usbAudio: bool,
  usbCableInstructions: closed('USB_CABLE_INSTRUCTIONS', '_USB_C_ONLY', '_HDMI_USB_C', '_HDMI_USB_A'),
  usbExtenderSupport: bool,
  usbMode: closed('USB_MODE', 'PERIPHERAL', 'AUTO', 'MANUAL'),
  wifiEnabled: bool,
}

/** Keys that a device reports and that cannot be set. [contract 4.endpointsSettings] */
export const readOnlyKeys: Readonly<Record<string, ConfigKey>> = {
  controllerMode: known('controller', 'schedule'),
  framingBoundaryHfovRatio: { type: 'number' },
  multiDevicePbp: bool,
  neatOtaChannel: text,
  pairingSerial: text,
  primaryMode: known('oob', 'zoom', 'msteams', 'avos', 'usb'),
  scheduledUpdateDelay: { type: 'integer' },
}

const shapeOf = (key: ConfigKey): TSchema => {
  switch (key.type) {
    case 'boolean':
      return Type.Boolean()
    case 'number':
      return Type.Number(bounds(key))
    case 'integer':
      return Type.Integer({ ...int32, ...bounds(key) })
    case 'enum':
      return Type.Unsafe<string>({ type: 'string', enum: key.values })
    case 'string':
      return Type.String({
        minLength: 1,
        maxLength: 255,
        format: key.secret ? 'password' : (key.format ?? 'line'),
        ...(key.values && { examples: key.values }),
        ...(key.secret && { writeOnly: true }),
      })
  }
}
const bounds = ({ min, max }: ConfigKey) => ({
  ...(min !== undefined && { minimum: min }),
  ...(max !== undefined && { maximum: max }),
})

export type ConfigValue = boolean | number | string
export type DeviceConfigBody = Record<string, ConfigValue | null>

const nullable = (keys: Readonly<Record<string, ConfigKey>>) =>
  Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, { anyOf: [shapeOf(key), Type.Null()] }]))
const shown = Object.fromEntries(
  Object.entries(configKeys).flatMap(([name, key]) => (key.secret ? [] : [[name, shapeOf(key)]])),
)
const readOnly = Object.fromEntries(Object.entries(readOnlyKeys).map(([name, key]) => [name, shapeOf(key)]))

/** A config as it is sent: null unsets a key, an unknown key is refused by name. [contract 1.7] */
export const ProfileConfig = Type.Unsafe<DeviceConfigBody>({
  type: 'object',
  title: 'ProfileConfig',
  additionalProperties: false,
  properties: nullable(configKeys),
})

/** A config for one endpoint. Read-only keys are accepted with the value that they have. */
export const DeviceConfig = Type.Unsafe<DeviceConfigBody>({
  type: 'object',
  title: 'DeviceConfig',
  additionalProperties: false,
  properties: nullable({ ...configKeys, ...readOnlyKeys }),
})

const settings = (title: string, properties: object) =>
  Type.Unsafe<Record<string, ConfigValue>>({ type: 'object', title, additionalProperties: false, properties })

/** A config as it is returned: without secrets. */
export const DeviceSettings = settings('DeviceSettings', shown)

/** The settings of an endpoint, with the keys that it reports about itself. */
export const EndpointSettings = settings('EndpointSettings', { ...shown, ...readOnly })
