// Tests the words of messages for people. [contract 10.delivery]
import { expect, test } from 'vitest'
import type { MessageType } from '../../../../../contract/incidents/messages.ts'
import type { MessageContent } from './message.ts'
import { messageTextOf } from './texts.ts'

const textOf = (type: MessageType, content: MessageContent) =>
  messageTextOf({ id: '1', type, sequence: 1, createdAt: 0, orgId: 'a', url: 'https://rooms.example.org/', content })

test('a digest says when its incidents opened, which may have taken a whole night', () => {
  const [from, to] = ['2026-05-04T18:10:00.000Z', '2026-05-05T05:40:00.000Z']
  const bySeverity = { CRITICAL: 2, WARNING: 20 }
  expect(
    textOf('incident.digest', { digest: { count: 22, from, to, bySeverity, byRule: {}, incidentIds: [] } }),
  ).toEqual({
    headline: '22 incidents opened',
    facts: [
      ['From', from],
      ['To', to],
      ['By severity', '2 critical, 20 warning'],
    ],
    advice: 'Sent as one message because there are so many. Updates follow one by one.',
  })
})

test.each<[MessageType, MessageContent, string]>([
  ['operation.finished', { operation: { type: 'REBOOT', state: 'SUCCEEDED' } }, 'Restart succeeded'],
  ['operation.finished', { operation: { type: 'COLLECT_LOGS', state: 'EXPIRED' } }, 'Collection of logs expired'],
  ['operation.finished', { operation: {} }, 'Command finished'],
  ['audit.entry', { entry: { type: 'ROOM_UPDATED' } }, 'Change: room updated'],
  ['test', {}, 'Test message from Roomkeeper'],
])('the headline of %s with %j is "%s"', (type, content, headline) => {
  expect(textOf(type, content).headline).toBe(headline)
})
