// The names of settings for people: the console shows them, and titles of incidents have them.
import { humanize } from '../words.ts'

/** Settings whose name is not made from their key. */
const names: Readonly<Record<string, string>> = {
  allowNeatShare: 'Allow Neat Share',
  autoWakeup: 'Auto wake',
  colorCorrection: 'Colour correction',
  concurrentAudioOverHdmi: 'Also play audio over HDMI',
  controllerMode: 'Pad mode',
  digitalSignageTimeout: 'Digital signage after',
  frameRatePreferred: 'Prefer frame rate',
  framingBoundaryHfovRatio: 'Framing boundary (FOV ratio)',
  hideSlideOutMenu: 'Hide slide-out menu',
  layoutMaxPersons: 'Maximum people in layout',
  layoutPriorityContext: 'Layout priority',
  multiDevicePbp: 'Picture by picture',
  muteInternalLoudspeaker: 'Mute internal speaker',
  neatOtaChannel: 'Update channel',
  ntpServer: 'Time server (NTP)',
  padMicEnabled: 'Pad microphone',
  pairingSerial: 'Paired with',
  primaryMode: 'Application',
  remoteAccessAdminPassword: 'Remote access password',
  remoteAccessEnabled: 'Remote access',
  screenStandby: 'Screen standby after',
  screenStayOn: 'Keep screen on',
  settingsPassword: 'Settings password',
  settingsPasswordRequired: 'Require password for settings',
  time24h: '24-hour clock',
  timezone: 'Time zone',
  wifiEnabled: 'Wi-Fi',
}

export const settingName = (key: string): string =>
  (Object.hasOwn(names, key) ? names[key] : undefined) ?? humanize(key)
