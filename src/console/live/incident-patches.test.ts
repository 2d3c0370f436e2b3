// Tests that an incident that was read is put into the lists that want it, and into no other.
import { expect, test } from 'vitest'
import type { ListedIncident } from '../domain/incidents/incident.ts'
import { withIncident } from './incident-patches.ts'

const incident = (id: string, more: Partial<ListedIncident> = {}): ListedIncident => ({
  ...{ id, rule: 'device.offline', severity: 'WARNING', state: 'OPEN', title: `Incident ${id}`, hint: '' },
  ...{ cause: { level: 'ROOM', id: '7', name: 'Fjord' }, since: '2026-05-04T08:00:00.000Z' },
  ...{ openedAt: '2026-05-04T08:05:00.000Z', updatedAt: '2026-05-04T08:05:00.000Z', occurrences: 1, flapping: false },
  ...{ roomIds: [7], locationIds: [], regionIds: [], subjectCount: 1, openSubjectCount: 1 },
  ...more,
})
const later = '2026-05-04T08:06:00.000Z'
const open = { state: 'open' } as const

test('an open incident replaces its entry, and a new one is added', () => {
  const list = [incident('2'), incident('1')]
  const acknowledged = incident('1', { state: 'ACKNOWLEDGED', updatedAt: later })
  expect(withIncident(list, acknowledged, open)).toEqual([list[0], acknowledged])
  expect(withIncident(list, incident('3'), open)).toEqual([incident('3'), ...list])
})

test('an incident that has ended leaves the list of open ones, and stays in the list of all', () => {
  const list = [incident('2'), incident('1')]
  for (const state of ['RESOLVED', 'MERGED'] as const) {
    const ended = incident('2', { state, updatedAt: later })
    expect(withIncident(list, ended, open)).toEqual([list[1]])
    expect(withIncident(list, ended, { state: 'all' })).toEqual([ended, list[1]])
    expect(withIncident([], ended, { state: 'RESOLVED' })).toEqual(state === 'RESOLVED' ? [ended] : [])
  }
  const unknown = incident('9', { state: 'RESOLVED' })
  expect(withIncident(list, unknown, open)).toBe(list)
})

test('a list that begins at a time has only incidents that opened, or ended, since', () => {
  const from = Date.parse(later)
  expect(withIncident([], incident('1'), { state: 'all', from })).toEqual([])
  expect(withIncident([], incident('1', { openedAt: later }), { state: 'all', from })).toHaveLength(1)
  const ended = { state: 'all', resolvedFrom: from } as const
  expect(withIncident([], incident('1'), ended)).toEqual([])
  expect(withIncident([], incident('1', { state: 'RESOLVED', resolvedAt: later }), ended)).toHaveLength(1)
})

test('an answer that is older than the list changes nothing', () => {
  const list = [incident('1', { state: 'ACKNOWLEDGED', updatedAt: later })]
  expect(withIncident(list, incident('1'), open)).toBe(list)
  expect(withIncident(list, incident('1', { state: 'RESOLVED' }), open)).toBe(list)
})

test('a list of a period, a rule and a place takes no other incidents', () => {
  const one = incident('1', { locationIds: [3], regionIds: [2] })
  const filter = { state: 'all', rule: 'device.offline', to: Date.parse(later), regionId: 2, locationId: 3 } as const
  expect(withIncident([], one, filter)).toEqual([one])
  const openedLater = { ...one, openedAt: later }
  expect(withIncident([], openedLater, filter)).toEqual([])
  for (const other of [{ rule: 'storage.low' }, { regionId: 1 }, { locationId: 1 }] as const)
    expect(withIncident([], one, { ...filter, ...other })).toEqual([])
})
