// A working day in a room: meetings, people, and what they do to air, warmth and light.
import type { DeviceSample } from '../contract/device.ts'
import { modelOf, type Sensor } from '../contract/models.ts'
import { between, chance } from './chance.ts'
import type { PlannedDevice, PlannedRoom } from './plan.ts'

const minute = 60_000
const hour = 60 * minute

/** How likely a room is taken, by hour of a working day. */
// biome-ignore format: a day on one line
const demand = [0, 0, 0, 0, 0, 0, 0.01, 0.06, 0.3, 0.55, 0.7, 0.6, 0.25, 0.5, 0.65, 0.55, 0.35, 0.15, 0.06, 0.03, 0.01, 0, 0, 0]

/** Which half hour of which day it is there, and how far that day is. */
interface LocalTime {
  readonly day: number
  readonly minutes: number
}

function localTime(timezone: string, at: number): LocalTime {
  const local = at + offsetOf(timezone, at)
  const day = Math.floor(local / (24 * hour))
  return { day, minutes: (local - day * 24 * hour) / minute }
}

/** Asking Intl is dear, and the answer holds for an hour. */
const offsets = new Map<string, number>()
function offsetOf(timezone: string, at: number): number {
  const begin = Math.floor(at / hour) * hour
  const key = `${timezone} ${begin}`
  let offset = offsets.get(key)
  if (offset === undefined) {
    if (offsets.size > 10_000) offsets.clear()
    // 2026-05-04 10:00:00 there, read as if it were here.
    const there = new Date(begin).toLocaleString('sv-SE', { timeZone: timezone })
    offset = Date.parse(`${there.replace(' ', 'T')}Z`) - begin
    offsets.set(key, offset)
  }
  return offset
}

/** Meetings begin on the half hour; some take up a whole one. */
function meetingAt({ seed }: PlannedRoom, { day, minutes }: LocalTime): number | undefined {
  const isWeekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6 // day 0 was a Thursday
  const wanted = (demand[Math.floor(minutes / 60)] ?? 0) * (isWeekend ? 0.04 : 1)
  const whole = Math.floor(minutes / 60)
  if (chance(seed, day, whole, 1) < wanted * 0.6) return whole
  const half = 100 + Math.floor(minutes / 30)
  return chance(seed, day, half, 2) < wanted * 0.5 ? half : undefined
}

export function peopleIn(room: PlannedRoom, at: number): number {
  const time = localTime(room.timezone, at)
  const meeting = meetingAt(room, time)
  if (meeting === undefined) return 0
  const invited = between(1, room.seats, chance(room.seed, time.day, meeting, 3))
  // Some come late, some leave early.
  const missing = chance(room.seed, time.day, Math.floor(time.minutes / 5), 4) < 0.25 ? 1 : 0
  return Math.max(1, invited - missing)
}

/** Two of three meetings are calls. */
export function isInCall(room: PlannedRoom, at: number): boolean {
  const time = localTime(room.timezone, at)
  const meeting = meetingAt(room, time)
  return meeting !== undefined && chance(room.seed, time.day, meeting, 5) < 0.67
}

/** What the sensors of a device say at a time of the curve, stamped with a time of the clock. */
export function sampleOf(device: PlannedDevice, at: number, timestamp: number): DeviceSample {
  const { room, seed, model } = device
  const { day, minutes } = localTime(room.timezone, at)
  const people = peopleIn(room, at)
  // The air remembers the last two hours, the last quarter most.
  let breathed = 0
  for (let quarter = 7; quarter >= 0; quarter--) breathed = breathed * 0.75 + peopleIn(room, at - quarter * 15 * minute)
  const noise = (what: number) => chance(seed, Math.floor(at / minute), what) - 0.5
  const sun = Math.max(0, Math.sin(((minutes - 360) / 720) * Math.PI)) * (0.5 + chance(room.seed, day, 6))
  const warmth = Math.sin(((minutes - 540) / 1440) * 2 * Math.PI)
  const weather = chance(room.seed, day, 7) * (1 - minutes / 1440) + chance(room.seed, day + 1, 7) * (minutes / 1440)
  const measured: Record<Sensor, number> = {
    co2: Math.round(420 + breathed * 36 + noise(1) * 16),
    humidity: tenth(34 + 8 * weather + breathed * 0.12 + noise(2)),
    illumination: Math.round(sun * 260 + (people > 0 ? 310 : 0) + (noise(3) + 0.5) * 8),
    people,
    temp: tenth(21 + warmth + Math.min(2.5, breathed * 0.05) + noise(4) * 0.4),
    voc: Math.round(140 + breathed * 14 + noise(5) * 20),
    vocIndex: Math.round(Math.min(400, 60 + breathed * 4 + noise(6) * 10)),
  }
  const { sensors, shutter } = modelOf(model)
  const sample: DeviceSample = { timestamp }
  for (const sensor of sensors) sample[sensor] = measured[sensor]
  if (shutter) sample.shutterClosed = people === 0 && chance(seed, day, Math.floor(minutes / 60), 7) < 0.5
  return sample
}
const tenth = (value: number) => Math.round(value * 10) / 10
