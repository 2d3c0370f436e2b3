// Reads the last 24 hours in quarters of an hour: the state of each room from the connections of its devices, and people from the rollups of rooms. [contract 16.lastDay]

import { daySeconds } from '../../../contract/durations.ts'
import { type RoomState, roomStateOf, roomStates } from '../../../contract/fleet/rooms.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { quartersPerLastDay } from '../../../contract/reports/last-day.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import {
  decodeQuarters,
  isPresenceMark,
  notMeasured,
  peopleHundredths,
  quartersPerDay,
} from '../../sensors/rollups/quarter-values.ts'
import { listPeopleDays } from '../quarters-store.ts'
import { listReportRooms } from '../store.ts'
import { Turns } from '../turns.ts'
import { type DayConnection, eachState } from './device-states.ts'
import { listPresentDevices, listSpansOfDevices } from './store.ts'

type LastDay = ResponseOf<Operations['reportsLastDay']>
type PresentDevice = Awaited<ReturnType<typeof listPresentDevices>>[number]

const quarterMs = (daySeconds / quartersPerDay) * 1000
/** Rooms or devices that one statement reads. */
const rowsPerStatement = 250
/** A quarter with fewer people than this on average is not one in use. [contract 16.use] */
const usedHundredths = 20

/** The devices of a room at each time, in all and by state. */
interface RoomCounts {
  readonly endpoints: Uint16Array
  readonly connected: Uint16Array
  readonly unknown: Uint16Array
  readonly asleep: Uint16Array
}

export async function reportsLastDay(ctx: RequestContext): Promise<LastDay> {
  const turns = new Turns()
  const end = Math.floor(ctx.clock.now() / quarterMs)
  const first = end - quartersPerLastDay
  const times = Array.from({ length: quartersPerLastDay }, (_, i) => (first + i + 1) * quarterMs)
  const roomIds = await listRoomIds(ctx, turns)
  return {
    from: isoTime(first * quarterMs),
    to: isoTime(end * quarterMs),
    rooms: countStates(roomIds, await countDevices(ctx, times, turns)),
    ...(await readPeople(ctx, roomIds, first, turns)),
  }
}

async function listRoomIds(ctx: RequestContext, turns: Turns): Promise<readonly number[]> {
  const ids: number[] = []
  for (let after = 0; ; ) {
    const rows = await listReportRooms(ctx.db, { after, limit: rowsPerStatement })
    ids.push(...rows.map(({ id }) => id))
    await turns.next()
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerStatement) return ids
    after = last.id
  }
}

async function countDevices(
  ctx: RequestContext,
  times: readonly number[],
  turns: Turns,
): Promise<ReadonlyMap<number, RoomCounts>> {
  const rooms = new Map<number, RoomCounts>()
  const from = times[0] as number
  for (let after = 0; ; ) {
    const devices = await listPresentDevices(ctx.db, { ...ctx.presenceTimes, after, limit: rowsPerStatement })
    await turns.next()
    const numbers = devices.map(({ number }) => number)
    const spans = numbers.length > 0 ? await listSpansOfDevices(ctx.db, { numbers, from }) : []
    const spansOf = Map.groupBy(spans, ({ endpoint }) => endpoint)
    for (const device of devices) {
      addDevice(countsIn(rooms, device.room_id as number), device, spansOf.get(device.number) ?? [], times)
      await turns.next()
    }
    const last = devices.at(-1)
    if (!last || devices.length < rowsPerStatement) return rooms
    after = last.number
  }
}

function countsIn(rooms: Map<number, RoomCounts>, room: number): RoomCounts {
  const known = rooms.get(room)
  if (known) return known
  const none = () => new Uint16Array(quartersPerLastDay)
  const counts = { endpoints: none(), connected: none(), unknown: none(), asleep: none() }
  rooms.set(room, counts)
  return counts
}

function addDevice(
  counts: RoomCounts,
  device: PresentDevice,
  spans: readonly DayConnection[],
  times: readonly number[],
): void {
  const present = presentConnection(device)
  const enteredAt = (device.entered_at ?? 0) * 1000
  const ofState = { ONLINE: counts.connected, UNKNOWN: counts.unknown, ASLEEP: counts.asleep, OFFLINE: undefined }
  eachState(present ? [...spans, present] : spans, times, device.state, (index, state) => {
    if ((times[index] as number) < enteredAt) return
    counts.endpoints[index] = (counts.endpoints[index] ?? 0) + 1
    const counted = ofState[state]
    if (counted) counted[index] = (counted[index] ?? 0) + 1
  })
}

/** The connection that the row of a device names: its span is not written yet. */
function presentConnection(device: PresentDevice): DayConnection | undefined {
  const { node_id, changed_at: since, connected, connection_time, unknown_until, state } = device
  if (node_id === null || since === null) return undefined
  return {
    since,
    until: connected ? undefined : (connection_time ?? since),
    unknown_until,
    followed_by: connected ? null : 'UNKNOWN',
    rested: state === 'ASLEEP' ? 1 : 0,
    overslept_at: null,
    via: null,
  }
}

function countStates(roomIds: readonly number[], rooms: ReadonlyMap<number, RoomCounts>): LastDay['rooms'] {
  const none = () => Array<number>(quartersPerLastDay).fill(0)
  const states = Object.fromEntries(roomStates.map((state) => [state, none()])) as Record<RoomState, number[]>
  for (const id of roomIds) {
    const counts = rooms.get(id)
    for (let i = 0; i < quartersPerLastDay; i++) {
      const of = states[counts ? stateOf(counts, i) : 'EMPTY']
      of[i] = (of[i] ?? 0) + 1
    }
  }
  return states
}

const stateOf = ({ endpoints, connected, unknown, asleep }: RoomCounts, i: number): RoomState =>
  roomStateOf({
    endpointCount: endpoints[i] ?? 0,
    connectedCount: connected[i] ?? 0,
    unknownCount: unknown[i] ?? 0,
    asleepCount: asleep[i] ?? 0,
    hasFailedConfig: false,
  })

async function readPeople(
  ctx: RequestContext,
  roomIds: readonly number[],
  first: number,
  turns: Turns,
): Promise<Pick<LastDay, 'people' | 'roomsInUse'>> {
  const hundredths = Array<number | null>(quartersPerLastDay).fill(null)
  const roomsInUse = Array<number | null>(quartersPerLastDay).fill(null)
  const [firstDay, lastDay] = [first, first + quartersPerLastDay - 1].map((quarter) =>
    Math.floor(quarter / quartersPerDay),
  ) as [number, number]
  for (let at = 0; at < roomIds.length; at += rowsPerStatement) {
    const rooms = roomIds.slice(at, at + rowsPerStatement)
    for (const { day, people } of await listPeopleDays(ctx.db, { rooms, first: firstDay, last: lastDay })) {
      decodeQuarters(people, 'people').forEach((packed, quarter) => {
        const i = day * quartersPerDay + quarter - first
        if (packed === notMeasured || i < 0 || i >= quartersPerLastDay) return
        const seen = peopleHundredths(packed)
        roomsInUse[i] = (roomsInUse[i] ?? 0) + (seen >= usedHundredths ? 1 : 0)
        if (!isPresenceMark(packed)) hundredths[i] = (hundredths[i] ?? 0) + seen
      })
      await turns.next()
    }
  }
  return { people: hundredths.map((sum) => (sum === null ? null : Math.round(sum / 100))), roomsInUse }
}
