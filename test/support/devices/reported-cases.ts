// A value of each field of the status report, values that are refused, and how CSV files show it.
import type { reportedFields } from '../../../src/contract/fleet/reported-status.ts'

type ReportedField = keyof typeof reportedFields

interface ReportedCase {
  readonly value: unknown
  /** Each of them breaks another rule of the field. */
  readonly wrong: readonly unknown[]
  /** The text of its cell in the CSV of endpointsBasicList. */
  readonly cell: string
  /** The title of its column and the text of its cell in the console's CSV file of devices, if that has the field. */
  readonly consoleCsv?: readonly [title: string, text: string]
}

const tooLong = (length: number) => 'x'.repeat(length + 1)
const tooMany = (count: number, item: unknown) => Array.from({ length: count + 1 }, () => item)

type ConsoleCsv = ReportedCase['consoleCsv']
const text = (value: string, consoleCsv?: ConsoleCsv): ReportedCase => ({
  value,
  wrong: [5, tooLong(255), 'a\nb'],
  cell: value,
  ...(consoleCsv && { consoleCsv }),
})
const flag = (value: boolean): ReportedCase => ({ value, wrong: ['yes'], cell: String(value) })
const oneOf = (value: string, consoleCsv?: ConsoleCsv): ReportedCase => ({
  value,
  wrong: [5, 'SOMETHING'],
  cell: value,
  ...(consoleCsv && { consoleCsv }),
})
const texts = (
  value: readonly string[],
  maxItems: number,
  maxLength: number,
  cell = value.join(' '),
): ReportedCase => ({
  value,
  wrong: ['one', tooMany(maxItems, 'x'), [tooLong(maxLength)]],
  cell,
})
const bytes = (value: string): ReportedCase => ({ value, wrong: [5, '-1', '1 GB'], cell: value })
const list = (cell: string, item: object, maxItems: number, wrongItems: readonly object[]): ReportedCase => ({
  value: [item],
  wrong: [item, tooMany(maxItems, item), ...wrongItems.map((wrong) => [{ ...item, ...wrong }])],
  cell,
})

const network = { type: 'NETWORK_TYPE_WIFI', dnsServers: ['192.0.2.53'], signalDbm: -61, addresses: [], gateway: [] }

/** The compiler asks for a case for each new field. */
export const reportedCases: Readonly<Record<ReportedField, ReportedCase>> = {
  name: {
    value: 'Projector above the table',
    wrong: [5, tooLong(100), 'a\nb'],
    cell: 'Projector above the table',
    consoleCsv: ['Device', 'Projector above the table'],
  },
  manufacturer: text('Lumen', ['Maker', 'Lumen']),
  kind: oneOf('PROJECTOR', ['Kind', 'Projector']),
  hardwareVersion: text('B2'),
  appVersion: text('4.1'),
  startedAt: { value: '2026-05-01T06:00:00.000Z', wrong: [5, 'yesterday'], cell: '2026-05-01T06:00:00.000Z' },
  power: oneOf('STANDBY', ['Power', 'Standby']),
  sleeps: flag(true),
  activeInput: text('HDMI 1'),
  inputs: texts(['HDMI 1', 'HDMI 2'], 32, 100, 'HDMI 1; HDMI 2'),
  inputResolution: text('1920x1080'),
  volume: { value: 40, wrong: ['40', -1, 101, 40.5], cell: '40' },
  muted: flag(false),
  sensors: { value: ['temp'], wrong: ['temp', ['noise'], tooMany(7, 'temp')], cell: 'temp' },
  peopleIs: oneOf('PRESENCE'),
  actions: { value: ['reboot', 'power'], wrong: ['reboot', ['dance'], tooMany(5, 'reboot')], cell: 'reboot power' },
  configKeys: texts(['timezone'], 200, 64),
  peripherals: list(
    'Camera: CAMERA, serial C1, version 1.2, connected',
    { id: 'cam-1', name: 'Camera', kind: 'CAMERA', serial: 'C1', version: '1.2', connected: true },
    32,
    [
      { id: '' },
      { name: tooLong(100) },
      { kind: 'TOASTER' },
      { serial: tooLong(64) },
      { version: 5 },
      { connected: 'yes' },
    ],
  ),
  faults: list(
    'WARNING lamp.old: The lamp is worn out.',
    { code: 'lamp.old', level: 'WARNING', text: 'The lamp is worn out.' },
    32,
    [{ code: 'lamp old' }, { level: 'BAD' }, { text: tooLong(255) }],
  ),
  readings: list('lampHours: 1200 h', { name: 'lampHours', value: 1200, unit: 'h' }, 16, [
    { name: 'Lamp hours' },
    { value: 'many' },
    { unit: tooLong(16) },
  ]),
  facts: list('lens: short throw', { name: 'lens', text: 'short throw' }, 16, [
    { name: 'Lens' },
    { text: tooLong(255) },
  ]),
  pairingSerial: { value: 'LEADER1', wrong: [5, tooLong(64)], cell: 'LEADER1' },
  pairedSerials: texts(['FOLLOWER1'], 32, 64),
  supports: texts(['onlyIfIdle'], 32, 64),
  reach: texts(['10.20.0.0/16'], 32, 253),
  inCallStatus: oneOf('ZOOM', ['In a call', 'Zoom']),
  primaryMode: oneOf('zoom'),
  controllerMode: oneOf('schedule'),
  firmwareVersion: text('4.1.7', ['Firmware', '4.1.7']),
  latestVersion: text('4.2.0', ['Update', 'Behind']),
  firmwareVersionReleaseName: text('Spring'),
  latestVersionReleaseName: text('Summer'),
  otaChannel: text('stable'),
  upgradeStatus: text('IDLE'),
  upgradeTime: text('02:00'),
  upgradeModel: text('auto'),
  hexapaBuild: text('h1'),
  automaticUpdates: flag(true),
  hasScheduledFirmwareUpdate: flag(true),
  hasUnscheduledFirmwareUpdate: flag(false),
  isLatestVersionScheduledForNow: flag(false),
  buildType: text('user'),
  localIpAddress: text('192.0.2.7', ['IP address', '192.0.2.7']),
  networks: list('NETWORK_TYPE_WIFI, -61 dBm, DNS 192.0.2.53', network, 32, [
    { dnsServers: tooMany(4, '192.0.2.53') },
    { signalDbm: 'weak' },
    { mtu: 'large' },
  ]),
  ntpServer: text('ntp.example.org'),
  activeNtpServer: text('192.0.2.123'),
  ntpServerReachable: flag(true),
  timezone: text('Europe/Oslo'),
  remoteControlEnabled: flag(true),
  bulkEnrolmentPending: flag(false),
  orientation: text('landscape'),
  totalSystemStorage: bytes('1000'),
  freeSystemStorage: bytes('900'),
  totalInternalStorage: bytes('2000'),
  freeInternalStorage: bytes('1900'),
  totalExternalStorage: bytes('3000'),
  freeExternalStorage: bytes('2900'),
}

/** A status report with all fields. */
export const fullStatusReport: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries(reportedCases).map(([name, { value }]) => [name, value]),
)
