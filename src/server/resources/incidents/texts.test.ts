// The sentences that people read about incidents: complete for every rule and every cause, and right in singular and plural.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { minuteMs } from '../../../contract/durations.ts'
import { causeLevels } from '../../../contract/incidents/incidents.ts'
import {
  type IncidentRule,
  incidentRules,
  type RuleId,
  ruleIds,
  withNumbers,
} from '../../../contract/incidents/rule-table.ts'
import { hintOf, type TitledIncident, titleOf } from './texts.ts'

const facts = (
  rule: TitledIncident['rule'],
  level: TitledIncident['cause']['level'],
  name: string,
  subjectCount: number,
  detail: TitledIncident['detail'] = {},
): TitledIncident => ({ rule, cause: { level, id: '1', name }, subjectCount, detail })

test('every rule has a title of one line and a hint of whole sentences, whatever its cause is', () => {
  for (const rule of ruleIds) {
    for (const level of causeLevels) {
      for (const count of [0, 1, 12]) {
        const incident = facts(rule, level, 'Fjord', count)
        expect(titleOf(incident)).toMatch(/^[A-Z0-9][^\n.]+$/)
        expect(titleOf(incident)).not.toMatch(/undefined|null|NaN|: *$/)
        expect(hintOf(incident)).toMatch(/^[A-Z].+\.$/)
      }
    }
  }
})

test.each([
  [facts('device.offline', 'ENDPOINT', 'NF19B1 T1', 1), 'NF19B1 T1 is offline'],
  [facts('device.offline', 'ENDPOINT', 'NF19B1 T1', 2), 'NF19B1 T1 is offline: 2 devices'],
  [facts('device.offline', 'ROOM', 'Fjord', 1), 'Fjord is offline'],
  [facts('device.offline', 'ROOM', 'Fjord', 2), 'Fjord is offline: 2 devices'],
  [facts('device.offline', 'LOCATION', 'Oslo', 40), 'Oslo is offline: 40 devices'],
  [facts('device.offline', 'ORGANISATION', 'Acme', 400), 'Several locations are offline: 400 devices'],
  [
    facts('device.offline', 'ORGANISATION', 'Acme', 400, { restart: true }),
    '400 devices did not come back after a restart of the service',
  ],
  [
    facts('config.rejected', 'ENDPOINT', 'NF19B1 T1', 1, { keys: ['timezone'] }),
    'NF19B1 T1 rejected the setting timezone',
  ],
  [
    facts('config.rejected', 'PROFILE', 'Quiet', 3, { keys: ['a', 'b', 'c', 'd', 'e'] }),
    '3 devices rejected the settings a, b, c and 2 more of the profile Quiet',
  ],
  [
    facts('config.rejected', 'JOB', 'Quiet nights', 5, { keys: ['nightMode'] }),
    '5 devices rejected the setting nightMode (job Quiet nights)',
  ],
  [facts('config.undelivered', 'MODEL', 'NF19B1', 1), '1 device of the model NF19B1 has not confirmed its settings'],
  [
    facts('config.undelivered', 'MODEL', 'NF19B1', 2),
    '2 devices of the model NF19B1 have not confirmed their settings',
  ],
  [
    facts('air.beyond', 'ROOM', 'Fjord', 1, { sensors: ['co2', 'temp'] }),
    'The air in Fjord is outside its limits: CO₂, temperature',
  ],
  [facts('room.crowded', 'ROOM', 'Fjord', 1, { people: 14, capacity: 10 }), 'Fjord is crowded: 14 people, capacity 10'],
  [
    facts('storage.low', 'ENDPOINT', 'Room Bar 4K7X', 1, { storage: 'internal', freePercent: 9 }),
    'Room Bar 4K7X is low on internal storage: 9 % free',
  ],
  [facts('clock.unreachable', 'LOCATION', 'Oslo', 2), '2 devices in Oslo do not reach their time server'],
  [
    facts('certificate.expiring', 'ORGANISATION', 'Acme', 1, { expiresAt: Date.UTC(2026, 11, 1) }),
    'The TLS certificate of this service expires on 2026-12-01',
  ],
])('%o is told as “%s”', (incident, title) => {
  expect(titleOf(incident)).toBe(title)
})

test('title and hint after a restart name the service, or the node that ended, and not the rooms [contract 10.start]', () => {
  const after = (restart: object) => facts('device.offline', 'ORGANISATION', 'Acme', 400, { restart })
  expect(hintOf(after({}))).toMatch(/^The service was restarted/)
  expect(titleOf(after({ node: 'b' }))).toBe('400 devices did not come back after node b ended')
  expect(hintOf(after({ node: 'b' }))).toMatch(/^A node of the service ended/)
  expect(hintOf(facts('device.offline', 'ORGANISATION', 'Acme', 400))).not.toMatch(/restart/)
})

test('the documents have the rules and the hints as they are', () => {
  const lines = (name: string) =>
    readFileSync(join(import.meta.dirname, '../../../../docs', name), 'utf8')
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
  expect(lines('contract.md')).toEqual(rows)
  const { criticalDays } = incidentRules['certificate.expiring'].limits
  const worse: Partial<Record<RuleId, string>> = {
    'device.offline': '; CRITICAL for a room, a location or the organisation',
    'certificate.expiring': `; CRITICAL under ${criticalDays} days`,
  }
  const hints = ruleIds.map((id) => {
    const hint = hintOf(facts(id, 'ENDPOINT', 'NF19B1 T1', 1))
    return `| \`${id}\` | ${incidentRules[id].severity}${worse[id] ?? ''} | ${hint} |`
  })
  expect(lines('incidents.md')).toEqual(hints)
})
