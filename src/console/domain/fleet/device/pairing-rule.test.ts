// Tests that the console groups devices as the service does. [contract 5.1.pairing]
import { expect, test } from 'vitest'
import { groupNamer, type Pairable, pairedLeader } from './pairing-rule.ts'

/** Serial numbers of each group, in the order of the devices. */
function groupsOf(devices: readonly Pairable[]): string[][] {
  const groups = Map.groupBy(devices, groupNamer(devices))
  return [...groups.values()].map((members) => members.map(({ serial }) => serial))
}

test('a device is paired with the leader that it names in the same room, or that lists it', () => {
  const devices = [
    { serial: 'BAR', roomId: 1, pairedSerials: ['FRAME'] },
    { serial: 'PAD', roomId: 1, pairingSerial: 'BAR' },
    { serial: 'FRAME', roomId: 2, pairingSerial: 'BAR' },
    { serial: 'HOSTILE', roomId: 2, pairingSerial: 'BAR', pairedSerials: ['BAR'] },
    { serial: 'ROOMLESS', pairingSerial: 'BAR' },
  ]
  expect(groupsOf(devices)).toEqual([['BAR', 'PAD', 'FRAME'], ['HOSTILE'], ['ROOMLESS']])
  expect(devices.map((device) => pairedLeader(device, devices))).toEqual(['BAR', 'BAR', 'BAR', 'HOSTILE', 'ROOMLESS'])
})

test('under a leader that is not enrolled there is a group for each room', () => {
  const devices = [
    { serial: 'A1', roomId: 1, pairingSerial: 'GONE' },
    { serial: 'A2', roomId: 1, pairingSerial: 'GONE' },
    { serial: 'B1', roomId: 2, pairingSerial: 'GONE' },
    { serial: 'C1', pairingSerial: 'GONE' },
    { serial: 'C2', pairingSerial: 'GONE' },
  ]
  expect(groupsOf(devices)).toEqual([['A1', 'A2'], ['B1'], ['C1'], ['C2']])
  expect(devices.map((device) => pairedLeader(device, devices))).toEqual(['GONE', 'GONE', 'GONE', 'C1', 'C2'])
})

test('a device that is not paired with the leader that it names leads those that name it', () => {
  const devices = [
    { serial: 'FAR', roomId: 1 },
    { serial: 'BAR', roomId: 2, pairingSerial: 'FAR' },
    { serial: 'PAD', roomId: 2, pairingSerial: 'BAR' },
    { serial: 'SELF', roomId: 2, pairingSerial: 'SELF' },
  ]
  expect(groupsOf(devices)).toEqual([['FAR'], ['BAR', 'PAD'], ['SELF']])
})
