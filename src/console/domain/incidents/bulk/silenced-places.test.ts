// Tests which places a silence of selected incidents is for. [contract 10.silence]
import { expect, test } from 'vitest'
import type { ListedIncident } from '../incident.ts'
import { placesToSilence } from './silenced-places.ts'

const incident = (id: string, level: ListedIncident['cause']['level'], rooms: number[], locations: number[]) =>
  ({ id, cause: { level, id: `cause ${id}`, name: '' }, roomIds: rooms, locationIds: locations }) as ListedIncident

test('each incident is silenced at its device, its room or its location, and each place once', () => {
  const device = incident('1', 'ENDPOINT', [7], [2])
  const [room, sameRoom] = [incident('2', 'ROOM', [7], [2]), incident('3', 'MODEL', [7], [2])]
  const location = incident('4', 'LOCATION', [7, 8], [2])
  expect(placesToSilence([device, room, sameRoom, location])).toEqual([
    { place: { endpointId: 'cause 1' }, incidents: [device] },
    { place: { roomId: 7 }, incidents: [room, sameRoom] },
    { place: { locationId: 2 }, incidents: [location] },
  ])
})

test('an incident in several locations, or in no place, is left out', () => {
  expect(placesToSilence([incident('1', 'MODEL', [7, 9], [2, 3]), incident('2', 'ORGANISATION', [], [])])).toEqual([])
})
