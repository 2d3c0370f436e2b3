// Puts the samples of events into the cached lists, every few seconds, instead of reading the samples of all rooms again.
import { sensorsOf } from '../../contract/device/models.ts'
import type { Event } from '../../contract/journal/events.ts'
import { currentSession } from '../session.ts'
import { cachedBody, patchBody, readAgainIfFailed } from './cached-lists.ts'
import { aggregateSamples, type EventSample, type MeasuredSample } from './room-aggregate.ts'

const flushMs = 10_000

const latest = new Map<string, EventSample>()
const changedRooms = new Set<number>()
let timer: ReturnType<typeof setTimeout> | undefined

/** `readAll` is called if a room cannot be computed, because one of its devices has not sent a sample since the page was opened. */
export function takeSample({ endpointId, sample, measured, roomIds }: Event, readAll: () => void): void {
  // A node of an older version does not say what was measured.
  if (endpointId === undefined || !sample || !measured) return
  latest.set(endpointId, { sample, measured })
  for (const room of roomIds) changedRooms.add(room)
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    flush(readAll)
  }, flushMs)
}

/** Samples of another organisation are not kept, nor those from before a reset: the server may know newer ones. */
export function forgetSamples(): void {
  latest.clear()
  changedRooms.clear()
}

function flush(readAll: () => void): void {
  const samples = samplesByRoom(changedRooms)
  changedRooms.clear()
  if (!samples || [...samples.values()].includes(undefined)) readAll()
  if (!samples) {
    readAgainIfFailed('endpointsBasicList')
    return
  }
  patchBody('roomsBulkSensorData', (body) => ({
    data: body.data.map((entry) => {
      const known = samples.get(entry.id)
      return known ? { ...entry, roomData: aggregateSamples(known) } : entry
    }),
  }))
  patchBody('roomsList', (body) => {
    const rooms = body.rooms.map((room) => {
      const known = samples.get(room.id)
      const { data, measured, peopleIs } = known ? aggregateSamples(known) : {}
      const people = data?.[0]?.people
      if (people === undefined || !measured?.includes('people')) return room
      if (room.people === people && room.peopleIs === peopleIs) return room
      const { peopleIs: _, ...others } = room
      return { ...others, people, ...(peopleIs && { peopleIs }) }
    })
    // A list that is the same is not rendered again.
    return rooms.every((room, at) => room === body.rooms[at]) ? body : { rooms }
  })
}

/** The samples of each room; undefined for a room with a connected device that was not heard yet. */
function samplesByRoom(rooms: ReadonlySet<number>): Map<number, MeasuredSample[] | undefined> | undefined {
  const devices = cachedBody('endpointsBasicList')?.endpoints
  if (!devices) return undefined
  const oldestMs = Date.now() - currentSession().roomFreshnessSeconds * 1000
  const byRoom = new Map<number, MeasuredSample[] | undefined>()
  for (const device of devices) {
    const { id, roomId, connected } = device
    if (roomId === undefined || !rooms.has(roomId)) continue
    const last = latest.get(id)
    if (!last && sensorsOf(device).length === 0) continue
    const known = byRoom.has(roomId) ? byRoom.get(roomId) : []
    if (!last && connected) byRoom.set(roomId, undefined)
    else if (known) {
      const isFresh = last && Number(last.sample.timestamp) * 1000 >= oldestMs
      const isPresenceOnly = device.peopleIs === 'PRESENCE'
      byRoom.set(roomId, isFresh ? [...known, { ...last, isPresenceOnly }] : known)
    }
  }
  for (const [room, known] of byRoom) if (known?.length === 0) byRoom.delete(room)
  return byRoom
}
