// The sections of the settings form, and the hints of settings. A key without a section is listed under Other.
import { configKeys } from '../../../contract/device/config-keys.ts'

interface SettingLabel {
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
      screenStandby: {},
      screenStayOn: {},
      autoWakeup: {},
      digitalSignageTimeout: {},
      hideSlideOutMenu: {},
    },
  },
  {
    title: 'Sound',
    keys: {
      deepNoiseSuppression: {},
      padMicEnabled: {},
      muteInternalLoudspeaker: {},
      usbAudio: {},
      concurrentAudioOverHdmi: {},
    },
  },
  {
    title: 'Video and framing',
    keys: {
      defaultFramingMode: {},
      layoutPriorityContext: {},
      layoutMaxPersons: {},
      framingBoundaryDepth: {},
      framingBoundaryRadius: {},
      framingBoundaryWidth: {},
      frameRatePreferred: {},
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
      wifiEnabled: {},
      bluetooth: {},
      timezone: {},
      ntpServer: {},
      time24h: {},
      dateFormat: {},
      temperatureUnit: {},
      language: {},
    },
  },
  {
    title: 'Access and security',
    keys: {
      settingsPasswordRequired: {},
      settingsPassword: {},
      remoteAccessEnabled: {},
      remoteAccessAdminPassword: {},
      allowNeatShare: {},
    },
  },
  { title: 'Updates and power', keys: { automaticUpdates: {} } },
  {
    title: 'Accessibility',
    keys: {
      fontSize: {},
      highContrast: {},
      colorCorrection: {},
      screenReader: {},
    },
  },
  { title: 'Other', keys: { logLevel: {}, shareAnalytics: {} } },
]

const labels: Readonly<Record<string, SettingLabel>> = Object.assign({}, ...table.map(({ keys }) => keys))

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
