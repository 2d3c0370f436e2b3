// Simulates the days of a room: meetings, people, and their effect on air, temperature and light.
import { LRUCache } from 'lru-cache'
import { modelOf, type Sensor } from '../contract/device/models.ts'
import type { DeviceSample } from '../contract/device/protocol.ts'
import { hourMs, minuteMs } from '../contract/durations.ts'
import type { FleetDevice, FleetRoom } from './plan.ts'
import { sensorsOfDevice } from './products.ts'
import { between, seededRandom } from './seeded-random.ts'

/** The probability that a room is occupied, by hour of a working day. */
// biome-ignore format: a day on one line
const occupancyByHour = [0, 0, 0, 0, 0, 0, 0.01, 0.06, 0.3, 0.55, 0.7, 0.6, 0.25, 0.5, 0.65, 0.55, 0.35, 0.15, 0.06, 0.03, 0.01, 0, 0, 0]

/** The day, counted from 1970, and the minutes since midnight, in the time zone of the room. */
interface LocalTime {
  readonly day: number
  readonly minutes: number
}

function localTime(timezone: string, at: number): LocalTime {
  const local = at + zoneOffsetMs(timezone, at)
  const day = Math.floor(local / (24 * hourMs))
  return { day, minutes: (local - day * 24 * hourMs) / minuteMs }
}

/** Intl is slow, and an offset holds for at least an hour, so offsets are cached by hour. */
const offsetCache = new LRUCache<string, number>({ max: 10_000 })
function zoneOffsetMs(timezone: string, at: number): number {
  const begin = Math.floor(at / hourMs) * hourMs
  const key = `${timezone} ${begin}`
  let offset = offsetCache.get(key)
  if (offset === undefined) {
    // The local time as text, such as 2026-05-04 10:00:00, parsed as if it were UTC.
    const there = new Date(begin).toLocaleString('sv-SE', { timeZone: timezone })
    offset = Date.parse(`${there.replace(' ', 'T')}Z`) - begin
    offsetCache.set(key, offset)
  }
  return offset
}

/** Minutes since midnight, in the time zone of the room. */
export const minuteOfDay = ({ timezone }: FleetRoom, at: number): number => Math.floor(localTime(timezone, at).minutes)

/** From 19:00 to 07:00. */
export function isNight(room: FleetRoom, at: number): boolean {
  const hour = minuteOfDay(room, at) / 60
  return hour < 7 || hour >= 19
}

/** Meetings begin at the full or half hour. The number identifies the meeting within its day. */
function meetingAt({ seed }: FleetRoom, { day, minutes }: LocalTime): number | undefined {
  const isWeekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6 // day 0 was a Thursday
  const wanted = (occupancyByHour[Math.floor(minutes / 60)] ?? 0) * (isWeekend ? 0.04 : 1)
  const whole = Math.floor(minutes / 60)
  if (seededRandom(seed, day, whole, 1) < wanted * 0.6) return whole
  const half = 100 + Math.floor(minutes / 30)
  return seededRandom(seed, day, half, 2) < wanted * 0.5 ? half : undefined
}

export function peopleIn(room: FleetRoom, at: number): number {
  const time = localTime(room.timezone, at)
  const meeting = meetingAt(room, time)
  if (meeting === undefined) return 0
  const invited = between(1, room.seats, seededRandom(room.seed, time.day, meeting, 3))
  // Now and then one person is late or leaves early.
  const missing = seededRandom(room.seed, time.day, Math.floor(time.minutes / 5), 4) < 0.25 ? 1 : 0
  return Math.max(1, invited - missing)
}

/** About two of three meetings are calls. */
export function isInCall(room: FleetRoom, at: number): boolean {
  const time = localTime(room.timezone, at)
  const meeting = meetingAt(room, time)
  return meeting !== undefined && seededRandom(room.seed, time.day, meeting, 5) < 0.67
}

/** The sensor values of a device at a simulated time, with a timestamp of the real clock. */
export function makeSample(device: FleetDevice, at: number, timestamp: number): DeviceSample {
  const { room, seed, model } = device
  const { day, minutes } = localTime(room.timezone, at)
  const people = peopleIn(room, at)
  // The air depends on the people of the last two hours, mostly on those of the last quarter of an hour.
  let breathed = 0
  for (let quarter = 7; quarter >= 0; quarter--)
    breathed = breathed * 0.75 + peopleIn(room, at - quarter * 15 * minuteMs)
  const noise = (salt: number) => seededRandom(seed, Math.floor(at / minuteMs), salt) - 0.5
  const sun = Math.max(0, Math.sin(((minutes - 360) / 720) * Math.PI)) * (0.5 + seededRandom(room.seed, day, 6))
  const warmthOfDay = Math.sin(((minutes - 540) / 1440) * 2 * Math.PI)
  const weather =
    seededRandom(room.seed, day, 7) * (1 - minutes / 1440) + seededRandom(room.seed, day + 1, 7) * (minutes / 1440)
  const measured: Record<Sensor, number> = {
    co2: Math.round(420 + breathed * 36 + noise(1) * 16),
    humidity: roundToTenth(34 + 8 * weather + breathed * 0.12 + noise(2)),
    illumination: Math.round(sun * 260 + (people > 0 ? 310 : 0) + (noise(3) + 0.5) * 8),
    people,
    temp: roundToTenth(21 + warmthOfDay + Math.min(2.5, breathed * 0.05) + noise(4) * 0.4),
    voc: Math.round(140 + breathed * 14 + noise(5) * 20),
    vocIndex: Math.round(Math.min(400, 60 + breathed * 4 + noise(6) * 10)),
  }
  const { shutter } = modelOf(model)
  const sample: DeviceSample = { timestamp }
  for (const sensor of sensorsOfDevice(device)) sample[sensor] = measured[sensor]
  if (shutter) sample.shutterClosed = people === 0 && seededRandom(seed, day, Math.floor(minutes / 60), 7) < 0.5
  return sample
}
const roundToTenth = (value: number) => Math.round(value * 10) / 10
