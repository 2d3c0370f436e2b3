// Tests for which incidents a restart is offered.
import { expect, test } from 'vitest'
import type { ListedIncident } from '../incident.ts'
import { canRestart, restartableDevices } from './restartable.ts'

const device = { model: 'NF19B1', roomId: 1, connected: true }
const devices = restartableDevices([
  { ...device, id: 'online' },
  { ...device, id: 'offline', roomId: 2, connected: false },
  { ...device, id: 'unable', roomId: 3, actions: [] },
])
const incident = (changes: object) =>
  ({
    rule: 'config.rejected',
    state: 'OPEN',
    cause: { level: 'ROOM' },
    roomIds: [],
    ...changes,
  }) as unknown as ListedIncident
const about = (id: string) => ({ cause: { level: 'ENDPOINT', id, name: '' } })

test.each([
  ['a connected device', about('online'), true],
  ['an offline device', about('offline'), false],
  ['a device that cannot restart', about('unable'), false],
  ['rooms with a connected device', { roomIds: [2, 1] }, true],
  ['rooms without one', { roomIds: [2, 3] }, false],
  ['devices that are offline', { rule: 'device.offline', roomIds: [1] }, false],
  ['a job', { rule: 'job.stopped', roomIds: [1] }, false],
  ['a connected device, when it has ended', { ...about('online'), state: 'RESOLVED' }, false],
])('a restart for an incident about %s: %o is %s', (_, changes, isOffered) => {
  expect(canRestart(incident(changes), devices)).toBe(isOffered)
})
