// The words for selected rows name their place if they have one in common.
import { expect, test } from 'vitest'
import { devicesSubject, roomsSubject } from './bulk-subject.ts'

const boston = { id: 1, name: 'Boston Seaport' }
const atlanta = { id: 2, name: 'Atlanta' }

test('selected rooms are named with their location if it is one', () => {
  const coral = { id: 1, name: 'Coral', location: boston }
  expect(roomsSubject([coral])).toBe('Coral (Boston Seaport)')
  expect(roomsSubject([{ id: 2, name: 'Fern' }])).toBe('Fern')
  expect(roomsSubject([coral, { ...coral, id: 3 }])).toBe('2 rooms in Boston Seaport')
  expect(roomsSubject([coral, { id: 4, name: 'Coral', location: atlanta }])).toBe('2 rooms')
  expect(roomsSubject([coral, { id: 2, name: 'Fern' }])).toBe('2 rooms')
})

test('selected devices are named with their room or location if it is one', () => {
  const bar = { name: 'Bar', roomId: 1, roomName: 'Coral', location: boston }
  const subject = (...devices: Partial<typeof bar>[]) => devicesSubject(devices, ({ name = '' }) => name)
  expect(subject(bar)).toBe('Bar in Coral (Boston Seaport)')
  expect(subject(bar, { ...bar, name: 'Pad' })).toBe('2 devices in Coral (Boston Seaport)')
  expect(subject(bar, { ...bar, roomId: 2, roomName: 'Fern' })).toBe('2 devices in Boston Seaport')
  expect(subject(bar, { ...bar, roomId: 2, location: atlanta })).toBe('2 devices')
  expect(subject({ name: 'Spare' })).toBe('Spare')
})
