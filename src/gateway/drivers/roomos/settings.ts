// The settings of a codec that have an exact counterpart among our config keys, in both directions.
import type { AgentSettings } from '../../../device/handlers.ts'
import type { Codec } from './codec.ts'
import type { ConfigurationPath } from './xapi-paths.ts'

type Value = AgentSettings[string]
export interface Assignment {
  /** With the ids of items: `NetworkServices NTP Server[1] Address`. */
  readonly path: string
  readonly value: string | number
}
/** The settings to write, or the reason why the value has no exact counterpart. */
type Assignments = readonly Assignment[] | string

interface Setting {
  /** Whether this codec has the setting. */
  isKnown(codec: Codec): boolean
  /** The present value; undefined if it has no exact counterpart. */
  read(codec: Codec): Value | undefined
  write(value: Value, codec: Codec, config: AgentSettings): Assignments
}

const minuteMs = 60_000
const has = (codec: Codec, path: ConfigurationPath, ...ids: string[]) =>
  codec.configuration.text(path, ...ids) !== undefined

/** A setting with one word for each of our values. Words of the codec that are not named have no counterpart. */
const words = (path: ConfigurationPath, pairs: readonly (readonly [Value, string])[]): Setting => ({
  isKnown: (codec) => has(codec, path),
  read: (codec) => pairs.find(([, word]) => word === codec.configuration.text(path))?.[0],
  write: (value) => {
    const pair = pairs.find(([ours]) => ours === value)
    if (pair) return [{ path, value: pair[1] }]
    return `A codec has only these values: ${pairs.map(([ours]) => ours).join(', ')}.`
  },
})

/** The settings with one word for each of our values; a test compares the words with the published releases. */
export const wordSettings = {
  language: {
    path: 'UserInterface Language',
    pairs: [
      ['de', 'German'],
      ['en-US', 'English'],
      ['es', 'Spanish'],
      ['fr', 'French'],
      ['it', 'Italian'],
      ['ja', 'Japanese'],
      ['ko', 'Korean'],
      ['nb', 'Norwegian'],
      ['pl', 'Polish'],
      ['pt', 'Portuguese'],
      ['ru', 'Russian'],
      ['sv', 'Swedish'],
      ['tr', 'Turkish'],
      ['zh-Hans', 'ChineseSimplified'],
      ['zh-Hant', 'ChineseTraditional'],
    ],
  },
  dateFormat: {
    path: 'Time DateFormat',
    pairs: [
      ['dd/MM/yyyy', 'DD_MM_YY'],
      ['MM/dd/yyyy', 'MM_DD_YY'],
      ['yyyy/MM/dd', 'YY_MM_DD'],
    ],
  },
  time24h: {
    path: 'Time TimeFormat',
    pairs: [
      [true, '24H'],
      [false, '12H'],
    ],
  },
  screenStayOn: {
    path: 'Standby Control',
    pairs: [
      [true, 'Off'],
      [false, 'On'],
    ],
  },
  autoWakeup: {
    path: 'Standby WakeupOnMotionDetection',
    pairs: [
      [true, 'On'],
      [false, 'Off'],
    ],
  },
  nightMode: {
    path: 'UserInterface Theme Name',
    pairs: [
      [true, 'Night'],
      [false, 'Light'],
    ],
  },
  muteInternalLoudspeaker: {
    path: 'Audio Output InternalSpeaker Mode',
    pairs: [
      [true, 'Off'],
      [false, 'On'],
    ],
  },
  screenReader: {
    path: 'UserInterface Accessibility ScreenReader Default Mode',
    pairs: [
      [true, 'On'],
      [false, 'Off'],
    ],
  },
} as const satisfies Record<string, { path: ConfigurationPath; pairs: readonly (readonly [Value, string])[] }>

/** A codec compares zones with its own list, and refuses one that it lacks. */
const timezone: Setting = {
  isKnown: (codec) => has(codec, 'Time Zone'),
  read: (codec) => codec.configuration.text('Time Zone'),
  write: (value) => [{ path: 'Time Zone', value: String(value) }],
}

/** In the modes Auto and Off the address does not count: DHCP names the server, or there is none. */
const ntpServer: Setting = {
  isKnown: (codec) =>
    has(codec, 'NetworkServices NTP Mode') && has(codec, 'NetworkServices NTP Server[n] Address', '1'),
  read: (codec) =>
    codec.isSet('NetworkServices NTP Mode', 'Manual')
      ? codec.configuration.text('NetworkServices NTP Server[n] Address', '1') || undefined
      : undefined,
  write: (value) => [
    { path: 'NetworkServices NTP Server[1] Address', value: String(value) },
    { path: 'NetworkServices NTP Mode', value: 'Manual' },
  ],
}

/** Limits of `Standby Delay`. */
export const standbyMinutes = { min: 1, max: 480 } as const
const screenStandby: Setting = {
  isKnown: (codec) => has(codec, 'Standby Delay'),
  read: (codec) => {
    const minutes = codec.configuration.number('Standby Delay')
    return minutes === undefined ? undefined : minutes * minuteMs
  },
  write: (value, codec, config) => {
    const minutes = Number(value) / minuteMs
    const { min, max } = standbyMinutes
    if (!Number.isInteger(minutes) || minutes < min || minutes > max) {
      return `A codec goes to standby after ${min} to ${max} whole minutes (${min * minuteMs} to ${max * minuteMs} ms).`
    }
    // The delay counts only while the control is on; screenStayOn decides about that if it is set too.
    const mustControl = has(codec, 'Standby Control') && config.screenStayOn === undefined
    return [
      { path: 'Standby Delay', value: minutes },
      ...(mustControl ? [{ path: 'Standby Control', value: 'On' }] : []),
    ]
  },
}

const bluetooth: Setting = {
  isKnown: (codec) => has(codec, 'Bluetooth Enabled'),
  read: (codec) => !codec.isSet('Bluetooth Allowed', 'False') && codec.isSet('Bluetooth Enabled', 'True'),
  write: (value, codec) => [
    ...(value === true && codec.isSet('Bluetooth Allowed', 'False')
      ? [{ path: 'Bluetooth Allowed', value: 'True' }]
      : []),
    { path: 'Bluetooth Enabled', value: value === true ? 'True' : 'False' },
  ],
}

const cecOutputs = (codec: Codec) =>
  codec.configuration
    .ids('Video Output Connector[n]')
    .filter((id) => has(codec, 'Video Output Connector[n] CEC Mode', id))
/** Every output has a setting of its own: they count as one value only while all of them are equal. */
const hdmiCecControl: Setting = {
  isKnown: (codec) => cecOutputs(codec).length > 0,
  read: (codec) => {
    const outputs = cecOutputs(codec)
    if (outputs.every((id) => codec.isSet('Video Output Connector[n] CEC Mode', 'On', id))) return true
    return outputs.every((id) => codec.isSet('Video Output Connector[n] CEC Mode', 'Off', id)) ? false : undefined
  },
  write: (value, codec) =>
    cecOutputs(codec).map((id) => ({
      path: `Video Output Connector[${id}] CEC Mode`,
      value: value === true ? 'On' : 'Off',
    })),
}

const settings: Readonly<Record<string, Setting>> = {
  timezone,
  ntpServer,
  screenStandby,
  bluetooth,
  hdmiCecControl,
  ...Object.fromEntries(Object.entries(wordSettings).map(([key, { path, pairs }]) => [key, words(path, pairs)])),
}

/** The config keys that this codec has. */
export const codecKeys = (codec: Codec): string[] =>
  Object.keys(settings)
    .filter((key) => settings[key]?.isKnown(codec))
    .sort()

/** The present values. A value without an exact counterpart, such as the theme Auto, is left out. */
export const codecSettings = (codec: Codec): AgentSettings =>
  Object.fromEntries(
    codecKeys(codec).flatMap((key) => {
      const value = settings[key]?.read(codec)
      return value === undefined ? [] : [[key, value]]
    }),
  )

/** The settings to write for a key of a config, or the reason why it is rejected. */
export function assignmentsFor(codec: Codec, key: string, config: AgentSettings): Assignments {
  const setting = Object.hasOwn(settings, key) ? settings[key] : undefined
  const value = config[key]
  if (!setting?.isKnown(codec) || value === undefined) return 'This codec does not have this setting.'
  return setting.write(value, codec, config)
}
