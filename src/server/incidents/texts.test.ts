// The sentences that people read about incidents: complete for every rule and every cause, and right in singular and plural.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { minuteMs } from '../../contract/durations.ts'
import { causeLevels } from '../../contract/incidents/incidents.ts'
import {
  type IncidentRule,
  incidentRules,
  type RuleId,
  ruleIds,
  withNumbers,
} from '../../contract/incidents/rule-table.ts'
import { hintOf, type TitledIncident, type TitledSubject, titleOf } from './texts.ts'

interface Facts {
  readonly detail?: TitledIncident['detail']
  readonly subjects?: readonly TitledSubject[]
  readonly locations?: Readonly<Record<number, string>>
  /** The short names of devices in their rooms, by their names. */
  readonly inRoom?: Readonly<Record<string, string>>
}

const device = (name: string, room: string | null = 'Coral', location: number | null = 1): TitledSubject => ({
  subject_type: 'endpoint',
  subject_id: name,
  name,
  room_id: room === null ? null : room.length,
  room_name: room,
  location_id: location,
})
const inRoom = (name: string): TitledSubject => ({ ...device(name, name), subject_type: 'room' })
const frame = device('Frame 042000')

const incidentOf = (
  rule: TitledIncident['rule'],
  level: TitledIncident['cause']['level'],
  name: string,
  { detail = {}, subjects = [frame], locations = { 1: 'Boston Seaport', 2: 'Oslo' }, inRoom = {} }: Facts = {},
): TitledIncident => ({
  rule,
  cause: { level, id: '1', name },
  detail,
  subjects,
  locationName: (id) => locations[id],
  nameInRoom: ({ name }) => inRoom[name],
})

const many = (count: number, locations: readonly (number | null)[] = [1]) =>
  Array.from({ length: count }, (_, i) =>
    device(`Bar B${i}`, 'x'.repeat(1 + i), locations[i % locations.length] ?? null),
  )

test('every rule has a title of one line and a hint of whole sentences, whatever its cause is', () => {
  for (const rule of ruleIds) {
    for (const level of causeLevels) {
      for (const count of [0, 1, 12]) {
        const incident = incidentOf(rule, level, 'Fjord', { subjects: many(count) })
        expect(titleOf(incident)).toMatch(/^[A-Z0-9][^\n.]+$/)
        expect(titleOf(incident)).not.toMatch(/undefined|null|NaN|: *$| {2}/)
        expect(hintOf(incident)).toMatch(/^[A-Z].+\.$/)
      }
    }
  }
})

const lamp = { fault: { code: 'lamp.end', text: 'Lamp worn out' } }
const missing = (...names: readonly string[]) => ({
  peripherals: names.map((name) => ({ name, kind: 'CAMERA' as const })),
})
const projector = device('Projector 004711', 'Fjord', 2)

const pair = [device('Bar Pro ND1', 'Kestrel'), device('Stage camera', 'Kestrel')]

test.each<[TitledIncident, string]>([
  [
    incidentOf('device.fault', 'MODEL', 'PX-900', { detail: lamp, subjects: [projector] }),
    'Projector 004711 in Fjord (Oslo) reports a fault: Lamp worn out (lamp.end)',
  ],
  [
    incidentOf('device.fault', 'MODEL', 'PX-900', { detail: lamp, subjects: many(10) }),
    '10 PX-900 devices in Boston Seaport report a fault: Lamp worn out (lamp.end)',
  ],
  [
    incidentOf('device.fault', 'MODEL', 'PX-900', { detail: { fault: { code: 'E-17', text: '' } } }),
    'Frame 042000 in Coral (Boston Seaport) reports the fault E-17',
  ],
  [
    incidentOf('device.fault', 'MODEL', 'PX-900', {
      detail: { fault: { code: 'E-17', text: 'Lamp\r\n\u202eworn out\u0000' } },
    }),
    'Frame 042000 in Coral (Boston Seaport) reports a fault: Lamp worn out (E-17)',
  ],
  [
    incidentOf('peripheral.missing', 'ROOM', 'Fjord', { detail: missing('Quad'), subjects: [projector] }),
    'Camera Quad is missing in Fjord (Oslo)',
  ],
  [
    incidentOf('peripheral.missing', 'ROOM', 'Fjord', {
      detail: missing('Door camera', 'Quad', 'Quad'),
      subjects: [projector, projector],
    }),
    '2 × Camera Quad and Door camera are missing in Fjord (Oslo)',
  ],
  [
    incidentOf('peripheral.missing', 'ENDPOINT', frame.name, {
      detail: { peripherals: [{ name: 'dongle\u202e\n', kind: 'OTHER' }] },
      subjects: [device(frame.name, null, null)],
    }),
    'Dongle of Frame 042000 is missing',
  ],
  [
    incidentOf('peripheral.missing', 'ROOM', 'Coral', { detail: missing('\u202e') }),
    'Camera is missing in Coral (Boston Seaport)',
  ],
  [
    incidentOf('gateway.device', 'ENDPOINT', 'Gateway 0815', {
      detail: { unmanaged: ['CHANGED', 'NEVER_REACHED', 'REFUSED', 'REFUSED'] },
      subjects: [device('Gateway 0815', 'Fjord', 2)],
    }),
    'Gateway 0815 in Fjord (Oslo) cannot manage 4 devices: 2 refuse the password, 1 is another device or has another certificate, 1 was never reached',
  ],
  [
    incidentOf('gateway.device', 'ENDPOINT', 'Gateway 0815', {
      detail: { unmanaged: ['DUPLICATE'] },
      subjects: [device('Gateway 0815', 'Fjord', 2)],
    }),
    'Gateway 0815 in Fjord (Oslo) cannot manage 1 device: 1 is enrolled elsewhere',
  ],
  [
    incidentOf('source.failing', 'ENDPOINT', 'Gateway 0815', {
      detail: { source: { id: 's1', name: 'Neat Pulse', reason: 'It refused the key.' } },
      subjects: [device('Gateway 0815', 'Fjord', 2)],
    }),
    'Gateway 0815 in Fjord (Oslo) cannot read Neat Pulse: It refused the key.',
  ],
  [
    incidentOf('source.failing', 'ENDPOINT', 'Gateway 0815', {
      detail: { source: { id: 's1', name: 'Broker' } },
      subjects: [device('Gateway 0815', 'Fjord', 2)],
    }),
    'Gateway 0815 in Fjord (Oslo) cannot read Broker',
  ],
  [incidentOf('device.flapping', 'ENDPOINT', frame.name), 'Frame 042000 in Coral (Boston Seaport) keeps disconnecting'],
  [incidentOf('device.offline', 'ENDPOINT', frame.name), 'Frame 042000 in Coral (Boston Seaport) is offline'],
  [incidentOf('device.offline', 'ENDPOINT', frame.name, { locations: {} }), 'Frame 042000 in Coral is offline'],
  [
    incidentOf('device.offline', 'ENDPOINT', frame.name, { subjects: [device(frame.name, null, null)] }),
    'Frame 042000 is offline',
  ],
  [
    incidentOf('device.offline', 'ENDPOINT', 'X9 T1', { subjects: [device('X9 T1')] }),
    'X9 T1 in Coral (Boston Seaport) is offline',
  ],
  [
    incidentOf('device.offline', 'ENDPOINT', 'Bar Pro ND1', { subjects: pair }),
    'Bar Pro ND1 and Stage camera in Kestrel (Boston Seaport) are offline',
  ],
  [
    incidentOf('device.offline', 'ENDPOINT', frame.name, { subjects: [frame, frame] }),
    '2 devices in Coral (Boston Seaport) are offline',
  ],
  [
    incidentOf('device.flapping', 'ENDPOINT', frame.name, { inRoom: { [frame.name]: 'Frame' } }),
    'Frame in Coral (Boston Seaport) keeps disconnecting',
  ],
  [
    incidentOf('device.offline', 'ENDPOINT', 'Bar Pro ND1', { subjects: pair, inRoom: { 'Bar Pro ND1': 'Bar Pro' } }),
    'Bar Pro and Stage camera in Kestrel (Boston Seaport) are offline',
  ],
  [
    incidentOf('device.offline', 'ENDPOINT', 'Bar Pro ND1', {
      subjects: pair,
      inRoom: { 'Bar Pro ND1': 'Stage camera' },
    }),
    'Bar Pro ND1 and Stage camera in Kestrel (Boston Seaport) are offline',
  ],
  [incidentOf('device.offline', 'ROOM', 'Coral'), 'Coral (Boston Seaport) is offline'],
  [
    incidentOf('device.offline', 'ROOM', 'Kestrel', { subjects: pair }),
    'Kestrel (Boston Seaport) is offline: 2 devices',
  ],
  [incidentOf('device.offline', 'LOCATION', 'Oslo', { subjects: many(40, [2]) }), 'Oslo is offline: 40 devices'],
  [
    incidentOf('device.offline', 'ORGANISATION', 'Acme', { subjects: many(1400, [1, 2, 2]) }),
    'Oslo and Boston Seaport are offline: 1,400 devices',
  ],
  [
    incidentOf('device.offline', 'ORGANISATION', 'Acme', {
      subjects: many(9, [1, 2, 3, 4]),
      locations: { 1: 'A', 2: 'B', 3: 'C', 4: 'D' },
    }),
    'A, B and 2 more locations are offline: 9 devices',
  ],
  [
    incidentOf('device.offline', 'ORGANISATION', 'Acme', { subjects: many(4, [8, 9]) }),
    'Several locations are offline: 4 devices',
  ],
  [
    incidentOf('device.offline', 'ORGANISATION', 'Acme', { subjects: many(400), detail: { restart: true } }),
    '400 devices did not come back after a restart of the service',
  ],
  [
    incidentOf('config.rejected', 'ENDPOINT', frame.name, { detail: { keys: ['nightMode'] } }),
    'Frame 042000 in Coral (Boston Seaport) rejected Night mode',
  ],
  [
    incidentOf('config.rejected', 'PROFILE', 'Quiet rooms', { detail: { keys: ['screenStandby', 'timezone'] } }),
    'Frame 042000 in Coral (Boston Seaport) rejected Screen standby after and Time zone of the profile Quiet rooms',
  ],
  [
    incidentOf('config.rejected', 'PROFILE', 'Quiet', {
      subjects: many(5),
      detail: { keys: ['autoWakeup', 'bluetooth', 'nightMode', 'timezone', 'wifiEnabled'] },
    }),
    '5 devices in Boston Seaport rejected Auto wake, Bluetooth, Night mode and 2 more settings of the profile Quiet',
  ],
  [
    incidentOf('config.rejected', 'JOB', 'Evening', { subjects: many(5, [1, 2]), detail: { keys: ['nightMode'] } }),
    '5 devices rejected Night mode set by the job Evening',
  ],
  [
    incidentOf('config.undelivered', 'MODEL', 'NF21F1'),
    'Frame 042000 in Coral (Boston Seaport) has not confirmed its settings',
  ],
  [
    incidentOf('config.undelivered', 'MODEL', 'NF19B1', { subjects: many(4, [1, 2]) }),
    '4 Bar devices have not confirmed their settings',
  ],
  [
    incidentOf('firmware.behind', 'MODEL', 'NF19B1', { subjects: many(4, [2]) }),
    '4 Bar devices in Oslo do not run the latest firmware',
  ],
  [
    incidentOf('air.beyond', 'ROOM', 'Fern', {
      subjects: [inRoom('Fern')],
      detail: { sensors: ['co2'], readings: [{ name: 'co2', value: 1743, max: 1000 }] },
    }),
    'High CO₂ in Fern (Boston Seaport): 1,743 ppm',
  ],
  [
    incidentOf('air.beyond', 'ROOM', 'Fern', {
      subjects: [inRoom('Fern')],
      detail: {
        sensors: ['co2', 'temp', 'humidity'],
        readings: [
          { name: 'co2', value: 1743, max: 1000 },
          { name: 'temp', value: 28.1, min: 18, max: 27 },
          { name: 'humidity', value: 18, min: 25, max: 65 },
        ],
      },
    }),
    'High CO₂ and temperature and low humidity in Fern (Boston Seaport): 1,743 ppm, 28.1 °C, 18.0 %',
  ],
  // An incident that version 0.2.0 opened has no values.
  [
    incidentOf('air.beyond', 'ROOM', 'Fern', { subjects: [inRoom('Fern')], detail: { sensors: ['co2', 'temp'] } }),
    'CO₂ and temperature in Fern (Boston Seaport) are outside their limits',
  ],
  [
    incidentOf('room.crowded', 'ROOM', 'Fern', { subjects: [inRoom('Fern')], detail: { people: 14, capacity: 10 } }),
    'Fern (Boston Seaport) is crowded: 14 people, capacity 10',
  ],
  [
    incidentOf('storage.low', 'ENDPOINT', frame.name, { detail: { storage: 'internal', freePercent: 9 } }),
    'Frame 042000 in Coral (Boston Seaport) is low on internal storage: 9 % free',
  ],
  [
    incidentOf('clock.unreachable', 'LOCATION', 'Oslo', { subjects: many(4, [2]) }),
    '4 devices in Oslo cannot reach their time server',
  ],
  [
    incidentOf('clock.unreachable', 'LOCATION', 'Oslo', { subjects: many(4, [9]) }),
    '4 devices in Oslo cannot reach their time server',
  ],
  [
    incidentOf('credential.refused', 'ENDPOINT', frame.name),
    'Wrong credentials were sent for Frame 042000 in Coral (Boston Seaport)',
  ],
  [
    incidentOf('certificate.expiring', 'ORGANISATION', 'Acme', { detail: { expiresAt: Date.UTC(2026, 11, 1) } }),
    'The TLS certificate of this service expires on 2026-12-01',
  ],
])('case %#: the title is “$1”', (incident, title) => {
  expect(titleOf(incident)).toBe(title)
})

test('names of users neither break the line, nor turn it around, nor make it endless', () => {
  const name = `Ro\u202Eom\n<!channel>\u2028 ${'long '.repeat(50)}`
  const subjects = Array.from({ length: 3 }, (_, i) => device(`${i}${name}`, name))
  for (const rule of ruleIds) {
    for (const level of causeLevels) {
      const title = titleOf(
        incidentOf(rule, level, name, { subjects, locations: { 1: name, 2: name }, detail: { keys: [name, name] } }),
      )
      expect(title).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u)
      expect([...title].length).toBeLessThanOrEqual(300)
    }
  }
})

test('title and hint after a restart name the service, or the node that ended, and not the rooms [contract 10.start]', () => {
  const after = (restart: object) =>
    incidentOf('device.offline', 'ORGANISATION', 'Acme', { subjects: many(400), detail: { restart } })
  expect(hintOf(after({}))).toMatch(/^The service was restarted/)
  expect(titleOf(after({ node: 'b' }))).toBe('400 devices did not come back after node b ended')
  expect(hintOf(after({ node: 'b' }))).toMatch(/^A node of the service ended/)
  expect(hintOf(incidentOf('device.offline', 'ORGANISATION', 'Acme'))).not.toMatch(/restart/)
})

test('the documents have the rules and the hints as they are', () => {
  const lines = (name: string) =>
    readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8')
      .split('\n')
      .filter((line) => ruleIds.some((id) => line.startsWith(`| \`${id}\` |`)))
  const rows = ruleIds.map((id) => {
    const rule: IncidentRule = incidentRules[id]
    const { severity, holdMs, clearMs, groupedBy, limits } = rule
    const [opens, ends] = [withNumbers(rule.opens, rule), withNumbers(rule.ends, rule)]
    const numbers = Object.entries(limits).map(([name, value]) => `\`${name}\` ${value}`)
    const minutes = { hold: holdMs / minuteMs, clear: clearMs / minuteMs }
    const listed = numbers.join(', ') || 'none'
    return `| \`${id}\` | ${severity} | ${opens} | ${minutes.hold} | ${ends} | ${minutes.clear} | ${groupedBy} | ${listed} |`
  })
  const properties = ruleIds.map((id) => {
    const rule: IncidentRule = incidentRules[id]
    const yes = (is: boolean) => (is ? 'yes' : 'no')
    const marks = [rule.isTimedByChecks, rule.isAboutConnection, rule.countsAgainstJob, rule.reopensOnNewAttempt]
    const cells = [rule.isCheckedEverySecond ? 'second' : 'minute', ...[...marks, rule.isSecurity].map(yes)]
    return `| \`${id}\` | ${rule.subject} | ${cells.join(' | ')} |`
  })
  expect(lines('contract.md')).toEqual([...rows, ...properties])
  const { criticalDays } = incidentRules['certificate.expiring'].limits
  const worse: Partial<Record<RuleId, string>> = {
    'device.offline': '; CRITICAL for a room, a location or the organisation',
    'device.fault': '; CRITICAL if the device says so',
    'certificate.expiring': `; CRITICAL under ${criticalDays} days`,
  }
  const hints = ruleIds.map((id) => {
    const hint = hintOf(incidentOf(id, 'ENDPOINT', 'Bar T1'))
    return `| \`${id}\` | ${incidentRules[id].severity}${worse[id] ?? ''} | ${hint} |`
  })
  expect(lines('incidents.md')).toEqual(hints)
})
