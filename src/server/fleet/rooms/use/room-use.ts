// Says whether rooms are in use, from calls and samples that devices report. [contract 12.idle]

import { dayMs, hourMs, minuteMs, secondMs } from '../../../../contract/durations.ts'
import { numbersFrom, quarters, slots } from '../../../core/time/slots.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { hasSensor, sensorSetOfEndpoint } from '../../../devices/device-sensors.ts'
import type { PresenceTimes } from '../../../nodes/presence-sql.ts'
import {
  busyAfterPeopleMs,
  type ConnectedTime,
  type DeviceFacts,
  findQuietStart,
  judgeUse,
  listAwaited,
} from './judge.ts'
import {
  type DeviceRow,
  listDevicesOfRooms,
  listLastPeople,
  listLastQuartersWithPeople,
  listSpansBefore,
  listSpansSince,
  spansPerPage,
} from './store.ts'

/** Whether a room is idle or busy; a room can be neither for some minutes. */
export type RoomUse = ReturnType<typeof judgeUse>

/** How far connections are looked back, step by step, until the idle time is complete. Few rooms need the second step; older connections are read in pages. */
const lookBackMs = [2 * hourMs, 7 * dayMs]

/** Pages have connections of the devices of this many rooms. */
const roomsPerPage = 25

/** Gaps of a few minutes, such as a restart of the server, do not need samples of more slots. */
const sampleMarginMs = 10 * minuteMs

/** Older samples are read from rollups, which exist by then even if the task that makes them is late. */
const rawSampleMs = 6 * hourMs

interface WatchedRoom {
  readonly devices: DeviceUse[]
  quietStart: number
}

class DeviceUse implements DeviceFacts {
  readonly number: number
  readonly isConnected: boolean
  readonly isInCall: boolean
  readonly mayBeInCall: boolean
  readonly callEndedAt: number | null
  readonly connectionTime: number | null
  readonly enrolledAt: number
  readonly offlineSince: number | null
  readonly isAsleep: boolean
  readonly hasPeopleSensor: boolean
  readonly sampledAtMs: number
  /** The connection that the row names. It ended with its node, if the node has ended. */
  readonly #current: ConnectedTime | undefined
  connections: readonly ConnectedTime[]
  lastPeopleAt = 0

  constructor(row: DeviceRow) {
    this.number = row.number
    this.isConnected = Boolean(row.connected)
    this.isInCall = row.call !== null && row.call !== 'NONE'
    this.mayBeInCall = this.isConnected && row.call !== null && row.status_connection !== row.connection
    this.callEndedAt = row.call_ended_at
    this.connectionTime = row.connection_time
    this.enrolledAt = row.enrolment_time
    // A device that never connected has been offline since its enrolment.
    this.offlineSince = row.state === 'OFFLINE' ? (row.since ?? row.enrolment_time) : null
    this.isAsleep = row.state === 'ASLEEP'
    this.hasPeopleSensor = measuresPeople(row)
    this.sampledAtMs = (row.sampled_at ?? 0) * secondMs
    if (row.node_id !== null && row.changed_at !== null) {
      const until = this.isConnected ? Number.POSITIVE_INFINITY : (row.connection_time ?? row.changed_at)
      this.#current = { since: row.changed_at, until }
    }
    this.connections = this.#current ? [this.#current] : []
  }

  setEarlierConnections(spans: readonly ConnectedTime[]): void {
    this.connections = this.#current ? [...spans, this.#current] : spans
  }

  /** The next page has connections again that began before the oldest one of another device. */
  addEarlierConnections(spans: readonly ConnectedTime[]): void {
    this.connections = [...new Map([...this.connections, ...spans].map((span) => [span.since, span])).values()]
  }
}

const measuresPeople = (row: DeviceRow) => hasSensor(sensorSetOfEndpoint(row), 'people')
const canKnow = (row: DeviceRow) => row.call !== null || measuresPeople(row)

/** The times by which a room is idle or not. */
export interface UseTimes {
  readonly now: number
  readonly idleMs: number
  readonly presence: PresenceTimes
}

interface UseQuery extends UseTimes {
  readonly roomIds: readonly number[]
}

/**
 * Reads the use of rooms. A room without endpoints, or that does not exist, cannot know and is idle. It costs two statements, and a few
 * more if a device of one of the rooms was disconnected within the idle time.
 */
export async function readRoomUse(on: OrgReader, query: UseQuery): Promise<ReadonlyMap<number, RoomUse>> {
  const { roomIds, now, presence } = query
  const rooms = new Map<number, WatchedRoom>()
  for (const row of roomIds.length > 0 ? await listDevicesOfRooms(on, { ...presence, rooms: roomIds }) : []) {
    if (row.room_id === null || !canKnow(row)) continue
    const room = rooms.get(row.room_id) ?? { devices: [], quietStart: now }
    rooms.set(row.room_id, room)
    room.devices.push(new DeviceUse(row))
  }
  await findQuietStarts(on, [...rooms.values()], query)
  await findLastPeople(on, [...rooms.values()], query)
  return new Map(roomIds.map((id) => [id, useOf(rooms.get(id), now)]))
}

function useOf({ devices, quietStart }: WatchedRoom = { devices: [], quietStart: 0 }, now: number): RoomUse {
  const lastPeopleAt = Math.max(0, ...devices.map((device) => device.lastPeopleAt))
  return judgeUse({ devices, lastPeopleAt, quietStart, now })
}

async function findQuietStarts(on: OrgReader, rooms: readonly WatchedRoom[], query: UseQuery): Promise<void> {
  const { now, idleMs } = query
  // Where all devices have been connected for long enough, nothing needs to be read.
  let missing = rooms.filter((room) => !setQuietStart(room, { now, idleMs, from: now - idleMs }))
  for (const ms of lookBackMs) {
    if (missing.length === 0) return
    const from = Math.max(0, now - ms)
    const devices = missing.flatMap((room) => room.devices)
    const spans = Map.groupBy(
      await listSpansSince(on, { endpoints: numbersOf(devices), from }),
      ({ endpoint }) => endpoint,
    )
    for (const device of devices) device.setEarlierConnections(spans.get(device.number) ?? [])
    missing = missing.filter((room) => !setQuietStart(room, { now, idleMs, from }))
  }
  for (let at = 0; at < missing.length; at += roomsPerPage) {
    await findOldQuietStarts(on, missing.slice(at, at + roomsPerPage), query)
  }
}

/** Reads connections in pages, the newest first, until the idle time is complete. Without it, a room has never been quiet. */
async function findOldQuietStarts(on: OrgReader, rooms: readonly WatchedRoom[], query: UseQuery): Promise<void> {
  for (const room of rooms) {
    room.quietStart = 0
    for (const device of room.devices) device.setEarlierConnections([])
  }
  let missing = rooms
  let before = query.now
  while (missing.length > 0 && before > 0) {
    const devices = missing.flatMap((room) => room.devices)
    const spans = Map.groupBy(
      await listSpansBefore(on, { endpoints: numbersOf(devices), before }),
      ({ endpoint }) => endpoint,
    )
    // Older connections of a device with a full page are on the next page, so nothing is decided by the time before its oldest one.
    const full = [...spans.values()].filter(({ length }) => length === spansPerPage)
    const from = Math.max(0, ...full.map((page) => Math.min(...page.map(({ since }) => since))))
    for (const device of devices) device.addEarlierConnections(spans.get(device.number) ?? [])
    missing = missing.filter((room) => !setQuietStart(room, { ...query, from }))
    before = from
  }
}

const numbersOf = (devices: readonly DeviceUse[]) => devices.map(({ number }) => number)

function setQuietStart(room: WatchedRoom, window: Parameters<typeof findQuietStart>[1]): boolean {
  const start = findQuietStart(listAwaited(room.devices, window.now), window)
  if (start !== undefined) room.quietStart = start
  return start !== undefined
}

async function findLastPeople(on: OrgReader, rooms: readonly WatchedRoom[], query: UseQuery): Promise<void> {
  const { now, idleMs } = query
  const recentFrom = now - idleMs - busyAfterPeopleMs - sampleMarginMs
  const sampled = devicesSampledSince(rooms, recentFrom)
  // The clock of a device may be ahead.
  const recentTo = Math.max(now, ...sampled.map(({ sampledAtMs }) => sampledAtMs))
  await readSamples(on, sampled, { from: recentFrom, to: recentTo })
  const far = rooms.filter(
    ({ devices, quietStart }) =>
      quietStart - busyAfterPeopleMs < recentFrom && devices.every((device) => device.lastPeopleAt === 0),
  )
  if (far.length === 0) return
  const from = Math.min(...far.map(({ quietStart }) => quietStart)) - busyAfterPeopleMs
  const rawFrom = Math.max(from, now - rawSampleMs)
  const devices = devicesSampledSince(far, from)
  if (rawFrom < recentFrom) await readSamples(on, devices, { from: rawFrom, to: recentFrom })
  if (from < rawFrom) await readQuarters(on, devices, { from, to: rawFrom })
}

const devicesSampledSince = (rooms: readonly WatchedRoom[], from: number) =>
  rooms.flatMap(({ devices }) => devices).filter((d) => d.hasPeopleSensor && d.sampledAtMs >= from)

interface Times {
  readonly from: number
  readonly to: number
}

async function readSamples(on: OrgReader, devices: readonly DeviceUse[], { from, to }: Times): Promise<void> {
  if (devices.length === 0) return
  const [first, last] = [slots.at(from / secondMs), slots.at(to / secondMs)]
  const endpoints = devices.map(({ number }) => number)
  const rows = await listLastPeople(on, { endpoints, slots: numbersFrom(first, last + 1), first, last })
  noteLastPeople(devices, new Map(rows.map(({ endpoint, timestamp }) => [endpoint, timestamp * secondMs])))
}

/** A quarter tells only that there were people within it, so its end counts. */
async function readQuarters(on: OrgReader, devices: readonly DeviceUse[], { from, to }: Times): Promise<void> {
  if (devices.length === 0) return
  const [first, end] = [quarters.at(Math.max(0, from) / secondMs), quarters.at(to / secondMs) + 1]
  const endpoints = devices.map(({ number }) => number)
  const rows = await listLastQuartersWithPeople(on, { endpoints, first, end })
  noteLastPeople(devices, new Map(rows.map(({ endpoint, slot }) => [endpoint, quarters.start(slot + 1) * secondMs])))
}

function noteLastPeople(devices: readonly DeviceUse[], times: ReadonlyMap<number, number>): void {
  for (const device of devices) device.lastPeopleAt = Math.max(device.lastPeopleAt, times.get(device.number) ?? 0)
}
