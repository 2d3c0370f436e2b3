// Finds the room and the location of a subject.
import type { Structure, Subject } from './types.ts'

export function placeOfSubject({ endpoints, rooms, locations }: Structure, subject: Subject) {
  const roomId = subject.type === 'room' ? Number(subject.id) : endpoints.get(subject.id)?.roomId
  const room = rooms.get(roomId ?? Number.NaN)
  return { room, location: locations.get(room?.locationId ?? Number.NaN) }
}
