// Where the settings of a device stand in a form, and what people call them. A key that is not here stands under Other.
import { configKeys } from '../../../contract/config-keys.ts'
import { humanize } from '../text/words.ts'

interface SettingLabel {
  /** Where its own name, in words, does not say it well. */
  readonly name?: string
  readonly hint?: string
}

interface SectionTable {
  readonly title: string
  readonly keys: Readonly<Record<string, SettingLabel>>
}

const table: readonly SectionTable[] = [
  {
    title: 'Display',
    keys: {
      brightness: { hint: '0 is darkest, 1 is brightest.' },
      nightMode: {},
      screenStandby: { name: 'Screen standby after' },
      screenStayOn: { name: 'Keep the screen on' },
      autoWakeup: { name: 'Wake up by itself' },
      digitalSignageTimeout: { name: 'Digital signage after' },
      hideSlideOutMenu: { name: 'Hide the slide-out menu' },
    },
  },
  {
    title: 'Sound',
    keys: {
      deepNoiseSuppression: {},
      padMicEnabled: { name: 'Microphone of the pad' },
      muteInternalLoudspeaker: { name: 'Mute its own loudspeaker' },
      usbAudio: {},
      concurrentAudioOverHdmi: { name: 'Sound over HDMI as well' },
    },
  },
  {
    title: 'Video and framing',
    keys: {
      defaultFramingMode: {},
      layoutPriorityContext: { name: 'Layout gives priority to' },
      layoutMaxPersons: { name: 'Most people in the layout' },
      framingBoundaryDepth: {},
      framingBoundaryRadius: {},
      framingBoundaryWidth: {},
      frameRatePreferred: { name: 'Prefer frame rate' },
      screenDetection: {},
    },
  },
  {
    title: 'HDMI and USB',
    keys: {
      hdmiCecControl: {},
      hdmiScreenMirroring: {},
      hdmiSleepSignal: {},
      byodMode: { hint: 'People may use it with their own computer.' },
      usbMode: {},
      usbCableInstructions: {},
      usbExtenderSupport: {},
    },
  },
  {
    title: 'Network and time',
    keys: {
      wifiEnabled: { name: 'Wi-Fi' },
      bluetooth: {},
      timezone: { name: 'Time zone' },
      ntpServer: { name: 'Time server (NTP)' },
      time24h: { name: '24-hour clock' },
      dateFormat: {},
      temperatureUnit: {},
      language: {},
    },
  },
  {
    title: 'Access and security',
    keys: {
      settingsPasswordRequired: { name: 'Settings ask for a password' },
      settingsPassword: { name: 'Password for settings' },
      remoteAccessEnabled: { name: 'Remote access' },
      remoteAccessAdminPassword: { name: 'Password for remote access' },
      allowNeatShare: { name: 'Allow Neat Share' },
    },
  },
  { title: 'Updates and power', keys: { automaticUpdates: {} } },
  {
    title: 'Accessibility',
    keys: {
      fontSize: {},
      highContrast: {},
      colorCorrection: { name: 'Colour correction' },
      screenReader: {},
    },
  },
  { title: 'Other', keys: { logLevel: {}, shareAnalytics: {} } },
]

const labels: Readonly<Record<string, SettingLabel>> = Object.assign(
  {
    controllerMode: { name: 'Pad is used as' },
    framingBoundaryHfovRatio: { name: 'Framing boundary, ratio of the field of view' },
    multiDevicePbp: { name: 'Side by side with other devices' },
    neatOtaChannel: { name: 'Update channel' },
    pairingSerial: { name: 'Paired with' },
    primaryMode: { name: 'Application' },
  },
  ...table.map(({ keys }) => keys),
)

/** What people call a setting. */
export const settingName = (key: string): string =>
  (Object.hasOwn(labels, key) ? labels[key]?.name : undefined) ?? humanize(key)
export const settingHint = (key: string): string | undefined =>
  (Object.hasOwn(labels, key) ? labels[key]?.hint : undefined) ??
  (Object.hasOwn(configKeys, key) && configKeys[key]?.unit === 'ms' ? inMilliseconds : undefined)

const inMilliseconds = 'In milliseconds: 600000 is ten minutes.'

export interface SettingSection {
  readonly title: string
  readonly keys: readonly string[]
}

const keysWithoutSection = Object.keys(configKeys).filter((key) => !table.some(({ keys }) => Object.hasOwn(keys, key)))

/** Every key that can be set, once. */
export const settingSections: readonly SettingSection[] = table.map(({ title, keys }) => ({
  title,
  keys: [
    ...Object.keys(keys).filter((key) => Object.hasOwn(configKeys, key)),
    ...(title === 'Other' ? keysWithoutSection : []),
  ],
}))
