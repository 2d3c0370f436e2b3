// The sections of the settings form, and the labels of settings. A key without a section is listed under Other.
import { configKeys } from '../../../contract/device/config-keys.ts'
import { humanize } from '../text/words.ts'

interface SettingLabel {
  /** Overrides the label that is made from the key. */
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
      brightness: { hint: '0 % = darkest, 100 % = brightest' },
      nightMode: {},
      screenStandby: { name: 'Screen standby after' },
      screenStayOn: { name: 'Keep screen on' },
      autoWakeup: { name: 'Auto wake' },
      digitalSignageTimeout: { name: 'Digital signage after' },
      hideSlideOutMenu: { name: 'Hide slide-out menu' },
    },
  },
  {
    title: 'Sound',
    keys: {
      deepNoiseSuppression: {},
      padMicEnabled: { name: 'Pad microphone' },
      muteInternalLoudspeaker: { name: 'Mute internal speaker' },
      usbAudio: {},
      concurrentAudioOverHdmi: { name: 'Also play audio over HDMI' },
    },
  },
  {
    title: 'Video and framing',
    keys: {
      defaultFramingMode: {},
      layoutPriorityContext: { name: 'Layout priority' },
      layoutMaxPersons: { name: 'Maximum people in layout' },
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
      byodMode: { hint: 'Allows use with a personal computer.' },
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
      settingsPasswordRequired: { name: 'Require password for settings' },
      settingsPassword: { name: 'Settings password' },
      remoteAccessEnabled: { name: 'Remote access' },
      remoteAccessAdminPassword: { name: 'Remote access password' },
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
    controllerMode: { name: 'Pad mode' },
    framingBoundaryHfovRatio: { name: 'Framing boundary (FOV ratio)' },
    multiDevicePbp: { name: 'Picture by picture' },
    neatOtaChannel: { name: 'Update channel' },
    pairingSerial: { name: 'Paired with' },
    primaryMode: { name: 'Application' },
  },
  ...table.map(({ keys }) => keys),
)

/** The label of a setting. */
export const settingName = (key: string): string =>
  (Object.hasOwn(labels, key) ? labels[key]?.name : undefined) ?? humanize(key)
export const settingHint = (key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key]?.hint : undefined

export interface SettingSection {
  readonly title: string
  readonly keys: readonly string[]
}

const keysWithoutSection = Object.keys(configKeys).filter((key) => !table.some(({ keys }) => Object.hasOwn(keys, key)))

/** Every key that can be set, in exactly one section. */
export const settingSections: readonly SettingSection[] = table.map(({ title, keys }) => ({
  title,
  keys: [
    ...Object.keys(keys).filter((key) => Object.hasOwn(configKeys, key)),
    ...(title === 'Other' ? keysWithoutSection : []),
  ],
}))
