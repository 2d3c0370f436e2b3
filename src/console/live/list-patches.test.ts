// Tests that an event changes only its own entry of a list, and that the state of a room follows its devices.
import { expect, test } from 'vitest'
import {
  type ListedDeviceEntry,
  type ListedRoomEntry,
  withConfigState,
  withDevice,
  withDeviceState,
  withOperation,
  withPresence,
  withRoom,
} from './list-patches.ts'

const room = (id: number, connectedCount: number, state: ListedRoomEntry['state']): ListedRoomEntry => ({
  ...{ id, name: `Room ${id}`, state, endpointCount: 2, connectedCount, people: 4 },
})
const device = (id: string, connected = true): ListedDeviceEntry => ({
  ...{ id, serial: id, model: 'NF19B1', connected, state: connected ? 'ONLINE' : 'OFFLINE' },
})

test('a presence that is known already changes nothing, so that nothing is rendered', () => {
  const devices = [device('a'), device('b', false)]
  const at = '2026-05-04T08:15:30.000Z'
  const online = { state: 'ONLINE' as const, since: at, at }
  expect(withPresence(devices, 'a', online)).toBe(devices)
  expect(withPresence(devices, 'unknown', online)).toBe(devices)
  const next = withPresence(devices, 'b', online)
  expect(next[0]).toBe(devices[0])
  expect(next[1]).toEqual({ ...device('b', true), connectionTime: at, since: at })
  // A server restart does not change since when a device is online.
  const away = withPresence(next, 'b', { state: 'UNKNOWN', at: '2026-05-04T09:00:00.000Z' })
  expect(away[1]).toMatchObject({ connected: false, state: 'UNKNOWN', since: at })
})

test('a room is healthy, degraded, offline or reconnecting by the states of its devices', () => {
  const rooms = [room(1, 2, 'HEALTHY'), room(2, 2, 'HEALTHY')]
  const one = withDeviceState(rooms, 1, 'ONLINE', 'OFFLINE')
  expect(one).toEqual([room(1, 1, 'DEGRADED'), room(2, 2, 'HEALTHY')])
  const none = withDeviceState(one, 1, 'ONLINE', 'OFFLINE')
  expect(none[0]).toEqual(room(1, 0, 'OFFLINE'))
  expect(withDeviceState(none, 1, 'ONLINE', 'OFFLINE')[0]?.connectedCount).toBe(0)
  const back = withDeviceState(withDeviceState(none, 1, 'OFFLINE', 'ONLINE'), 1, 'OFFLINE', 'ONLINE')
  expect(back[0]).toEqual(room(1, 2, 'HEALTHY'))
  const reconnecting = withDeviceState(rooms, 1, 'ONLINE', 'UNKNOWN')
  expect(reconnecting[0]).toEqual({ ...room(1, 1, 'HEALTHY'), unknownCount: 1 })
  expect(withDeviceState(reconnecting, 1, 'UNKNOWN', 'ONLINE')[0]).toEqual(room(1, 2, 'HEALTHY'))
  expect(withDeviceState(reconnecting, 1, 'UNKNOWN', 'OFFLINE')[0]).toEqual(room(1, 1, 'DEGRADED'))
})

test('a room that is degraded by rejected settings is degraded again when its devices are back', () => {
  const away = withDeviceState([room(3, 2, 'DEGRADED')], 3, 'ONLINE', 'OFFLINE')
  expect(withDeviceState(away, 3, 'OFFLINE', 'ONLINE')[0]?.state).toBe('DEGRADED')
})

test('a room that was read replaces its entry, and keeps the people that only samples know', () => {
  const read = {
    ...{ id: 1, name: 'Fjord', state: 'DEGRADED' as const, location: { id: 3, name: 'Oslo' } },
    endpoints: [
      { ...device('a', false), enrolmentTime: '', networks: [], firmwareVersion: '2' },
      { ...device('b'), enrolmentTime: '', networks: [] },
    ],
  }
  const rooms = [room(1, 2, 'HEALTHY'), room(2, 2, 'HEALTHY')]
  const next = withRoom(rooms, read)
  expect(next).toEqual([{ ...room(1, 1, 'DEGRADED'), name: 'Fjord', location: { id: 3, name: 'Oslo' } }, rooms[1]])
  expect(withRoom(next, read)).toBe(next)

  const devices = [device('a'), device('b')]
  const changed = read.endpoints.reduce<readonly ListedDeviceEntry[]>(withDevice, devices)
  expect(changed).toEqual([{ ...device('a', false), firmwareVersion: '2' }, device('b')])
  expect(changed[1]).toBe(devices[1])
})

test('the state of a config changes with its event, and stays when the device is read', () => {
  const devices = [device('a'), device('b')]
  const pending = withConfigState(devices, 'a', 'PENDING')
  expect(pending).toEqual([{ ...device('a'), configState: 'PENDING' }, device('b')])
  expect(withConfigState(pending, 'a', 'PENDING')).toBe(pending)
  const read = { ...device('a', false), enrolmentTime: '', networks: [], profileId: 4 }
  expect(withDevice(pending, read)[0]).toEqual({ ...device('a', false), profileId: 4, configState: 'PENDING' })
})

test('the list of operations has the open ones only', () => {
  const reboot = {
    ...{ id: '1', type: 'REBOOT' as const, endpointId: 'a', state: 'QUEUED' as const },
    ...{ createdAt: '', updatedAt: '', deadline: '' },
  }
  const open = withOperation([], reboot)
  expect(open).toEqual([reboot])
  const sent = withOperation(open, { ...reboot, state: 'SENT' })
  expect(sent).toEqual([{ ...reboot, state: 'SENT' }])
  expect(withOperation(sent, { ...reboot, state: 'SUCCEEDED' })).toEqual([])
  expect(withOperation(open, { ...reboot, id: '2', state: 'EXPIRED' })).toBe(open)
})
