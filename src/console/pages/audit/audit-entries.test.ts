// The rows of the audit log, of which one stands for all entries of a job.
import { expect, test } from 'vitest'
import { type AuditLogEntry, entryCountOf, foldedEntries, foldedJobOf } from './audit-entries.ts'

const entry = (id: string, more: Partial<AuditLogEntry> = {}): AuditLogEntry => ({
  ...{ id, timestamp: '2026-03-02T09:15:00.000Z', category: 'DEVICE', type: 'DEVICE_CONFIG_CHANGED' },
  actor: { type: 'SYSTEM', id: 'jobs', name: 'Jobs' },
  ...more,
})
const ofJob = (id: string, jobId: string, jobEntryCount: number) => entry(id, { details: { jobId }, jobEntryCount })

test('a job has one row, in the place of its newest entry, with the entries of all pages', () => {
  const rows = foldedEntries([ofJob('9', '1', 200), entry('8'), ofJob('7', '2', 1), ofJob('5', '1', 40), entry('4')])
  expect(rows.map(({ id }) => id)).toEqual(['9', '8', '7', '4'])
  expect(rows.map(foldedJobOf)).toEqual(['1', undefined, undefined, undefined])
  expect(rows[0]?.jobEntryCount).toBe(240)
  expect(entryCountOf(rows)).toBe(243)
})

test('entries of a job that the server does not fold stay apart', () => {
  const apart = [entry('3', { details: { jobId: '1' } }), entry('2', { details: { jobId: '1' } })]
  expect(foldedEntries(apart)).toEqual(apart)
})
