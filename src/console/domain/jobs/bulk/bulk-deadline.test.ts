// Tests when bulk actions expire.
import { expect, test } from 'vitest'
import { minuteMs } from '../../../../contract/durations.ts'
import { bulkDeadline } from './bulk-deadline.ts'

const readAt = Date.parse('2026-03-02T12:00:00Z')
/** The clock of the browser is an hour slow. */
const answer = { plan: { earliestEnd: '2026-03-02T13:00:00.000Z' }, readAt }

test('a message expires 15 minutes after the click by the clock of the service, however long its plan was open', () => {
  expect(bulkDeadline('MESSAGE', 'idle', answer, readAt)).toBe('2026-03-02T13:15:00.000Z')
  expect(bulkDeadline('MESSAGE', 'idle', answer, readAt + 40 * minuteMs)).toBe('2026-03-02T13:55:00.000Z')
})

test('a restart that waits has no deadline of its own, and one that does not expires after an hour', () => {
  expect(bulkDeadline('REBOOT', 'now', answer, readAt)).toBe('2026-03-02T14:00:00.000Z')
  expect(bulkDeadline('REBOOT', 'idle', answer, readAt)).toBeUndefined()
  expect(bulkDeadline('CONFIG', 'idle', answer, readAt)).toBeUndefined()
})
