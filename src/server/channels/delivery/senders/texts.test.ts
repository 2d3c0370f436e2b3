// Tests the words of messages for people. [contract 10.delivery]
import { expect, test } from 'vitest'
import type { MessageType } from '../../../../contract/channels/messages.ts'
import type { MessageContent } from './message.ts'
import { messageTextOf } from './texts.ts'

const written = Date.parse('2026-11-17T22:30:00.000Z')

const textOf = (type: MessageType, content: MessageContent, timezone = 'Europe/Lisbon', attemptedAt = written) =>
  messageTextOf({
    id: '1',
    type,
    sequence: 1,
    createdAt: written,
    attemptedAt,
    orgId: 'a',
    timezone,
    url: 'https://rooms.example.org/',
    content,
  })

test('a digest says when its incidents opened, which may have taken a whole night', () => {
  const [from, to] = ['2026-11-16T18:10:00.000Z', '2026-11-17T05:40:00.000Z']
  const bySeverity = { CRITICAL: 2, WARNING: 20 }
  expect(
    textOf('incident.digest', { digest: { count: 22, from, to, bySeverity, byRule: {}, incidentIds: [] } }),
  ).toEqual({
    headline: '22 incidents opened',
    facts: [
      ['From', '16 Nov 18:10 (Lisbon)'],
      ['To', '05:40 (Lisbon)'],
      ['By severity', '2 critical, 20 warning'],
    ],
    advice: 'Sent as one message because there are so many. Updates follow one by one.',
  })
})

const incident = {
  id: '7',
  rule: 'air.beyond',
  severity: 'CRITICAL',
  title: 'High CO₂ in Fern (Lisbon Baixa): 1,743 ppm',
  hint: 'Ventilate the room.',
  readings: [{ name: 'co2', value: 1743, unit: 'ppm', max: 1000 }],
  since: '2026-11-17T22:28:43.767Z',
  roomIds: [3],
} as const
const fern = { roomId: 3, roomName: 'Fern', locationId: 2, locationName: 'Lisbon Baixa', regionName: 'Iberia' }

test('a message about an incident says how bad it is, since when in local time, which incident, where, value and limit', () => {
  expect(textOf('incident.opened', { incident, places: [fern] })).toEqual({
    headline: 'Opened: High CO₂ in Fern (Lisbon Baixa): 1,743 ppm',
    summary: 'Critical · since 22:28 (Lisbon) · #7',
    facts: [
      ['Region', 'Iberia'],
      ['CO₂', '1,743 ppm (limit 1,000 ppm)'],
    ],
    advice: 'Ventilate the room.',
  })
  const { summary } = textOf('incident.opened', { incident, places: [fern] }, 'America/New_York')
  expect(summary).toBe('Critical · since 17:28 (New York) · #7')
})

test('a message that was held until the next morning names the day', () => {
  const morning = Date.parse('2026-11-18T08:00:00.000Z')
  const { summary } = textOf('incident.opened', { incident }, 'Europe/Lisbon', morning)
  expect(summary).toBe('Critical · since 17 Nov 22:28 (Lisbon) · #7')
})

test('a message about several rooms lists five of them, and counts the others', () => {
  const names = ['Atlas', 'Birch', 'Coral', 'Dune', 'Elm', 'Fern']
  const places = names.map((roomName, i) => ({ roomId: i, roomName, locationName: 'Oslo', regionName: 'Nordics' }))
  const roomIds = Array.from({ length: 40 }, (_, i) => i)
  expect(textOf('incident.opened', { incident: { ...incident, readings: [], roomIds }, places }).facts).toEqual([
    ['Rooms', 'Atlas (Oslo), Birch (Oslo), Coral (Oslo), Dune (Oslo), Elm (Oslo) and 35 more'],
    ['Region', 'Nordics'],
  ])
})

test('a message that an earlier version stored, without places and values, is told with what it has', () => {
  const old = { id: '7', severity: 'WARNING', title: 'Fern is offline', since: '2026-11-15T22:28:43.767Z' }
  expect(textOf('incident.resolved', { incident: old })).toEqual({
    headline: 'Resolved: Fern is offline',
    summary: 'Warning · since 15 Nov 22:28 (Lisbon) · #7',
    facts: [],
  })
})

test.each<[MessageType, MessageContent, string]>([
  ['operation.finished', { operation: { type: 'REBOOT', state: 'SUCCEEDED' } }, 'Restart succeeded'],
  ['operation.finished', { operation: { type: 'COLLECT_LOGS', state: 'EXPIRED' } }, 'Collection of logs expired'],
  ['operation.finished', { operation: {} }, 'Command finished'],
  ['audit.entry', { entry: { type: 'ROOM_UPDATED' } }, 'Change: room updated'],
  ['incident.assigned', { incident: { title: 'Fjord is offline' } }, 'Assigned to you: Fjord is offline'],
  ['test', {}, 'Test message from Roomkeeper'],
])('the headline of %s with %j is "%s"', (type, content, headline) => {
  expect(textOf(type, content).headline).toBe(headline)
})
