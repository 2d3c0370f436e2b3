// The settings of a simulated device that has not received a config, as its model, its country and its room suggest them.
import { type ConfigKey, configKeys } from '../contract/device/config-keys.ts'
import { minuteMs } from '../contract/durations.ts'
import type { AgentSettings } from '../device/handlers.ts'
import { channelOf, isWireless, timeServer } from './hardware.ts'
import type { FleetDevice } from './plan.ts'
import { pick, seededRandom } from './seeded-random.ts'

const typicalSettings: AgentSettings = {
  allowNeatShare: true,
  autoWakeup: true,
  automaticUpdates: true,
  bluetooth: true,
  deepNoiseSuppression: true,
  defaultFramingMode: 'GROUP',
  framingBoundaryDepth: 6,
  framingBoundaryRadius: 3,
  framingBoundaryWidth: 5,
  hdmiCecControl: true,
  layoutMaxPersons: 9,
  logLevel: 'info',
  ntpServer: timeServer,
  padMicEnabled: true,
  screenDetection: true,
  shareAnalytics: true,
  usbMode: 'AUTO',
}
const fallbackValue = (key: ConfigKey) => {
  if (key.type === 'boolean') return false
  if (key.type === 'enum') return key.values?.[1] ?? ''
  return key.type === 'string' ? (key.values?.[0] ?? '-') : (key.min ?? 0)
}
/** Generated from the table of config keys, so that new keys are included. Passwords are never reported. */
const commonSettings: AgentSettings = Object.fromEntries(
  Object.entries(configKeys).flatMap(([name, key]) =>
    key.secret ? [] : [[name, typicalSettings[name] ?? fallbackValue(key)]],
  ),
)

/** A pad has no camera, and no display that is attached by a cable. */
const keysWithoutPads =
  /^(autoWakeup|concurrentAudio|deepNoise|defaultFraming|frameRate|framing|hdmi|layout|screenStandby|usb(Cable|Extender|Mode))/

const languages: Readonly<Record<string, string>> = {
  'America/Mexico_City': 'es',
  'America/Sao_Paulo': 'pt',
  'Asia/Seoul': 'ko',
  'Asia/Tokyo': 'ja',
  'Europe/Berlin': 'de',
  'Europe/Madrid': 'es',
  'Europe/Oslo': 'nb',
  'Europe/Paris': 'fr',
  'Europe/Stockholm': 'sv',
  'Europe/Warsaw': 'pl',
}
const unitedStates = ['America/New_York', 'America/Los_Angeles', 'America/Chicago', 'America/Denver']
const eastAsia = ['Asia/Tokyo', 'Asia/Seoul']

function localSettings(timezone: string): AgentSettings {
  const isAmerican = unitedStates.includes(timezone)
  return {
    timezone,
    language: languages[timezone] ?? 'en-US',
    dateFormat: isAmerican ? 'MM/dd/yyyy' : eastAsia.includes(timezone) ? 'yyyy/MM/dd' : 'dd/MM/yyyy',
    temperatureUnit: isAmerican ? 'TEMPERATURE_UNIT_FAHRENHEIT' : 'TEMPERATURE_UNIT_CELSIUS',
    time24h: !isAmerican,
  }
}

/** Products of other makers do not take settings. */
export function factoryDefaults(device: FleetDevice): AgentSettings {
  if (device.product) return {}
  const { room, seed, pairingSerial, controllerMode } = device
  const settings: AgentSettings = {
    ...commonSettings,
    ...localSettings(room.timezone),
    brightness: pick([0.6, 0.7, 0.8, 1], seededRandom(seed, 40)),
    nightMode: seededRandom(seed, 41) < 0.2,
    screenStandby: pick([5, 10, 20, 30], seededRandom(seed, 42)) * minuteMs,
    wifiEnabled: isWireless(device),
    primaryMode: room.primaryMode,
    neatOtaChannel: channelOf(device),
    scheduledUpdateDelay: 0,
    framingBoundaryHfovRatio: 1,
    multiDevicePbp: false,
    ...(pairingSerial !== undefined && { pairingSerial }),
    ...(controllerMode && { controllerMode }),
  }
  if (!controllerMode) return settings
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !keysWithoutPads.test(name)))
}
