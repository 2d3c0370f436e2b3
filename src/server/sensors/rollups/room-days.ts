// Keeps the rollups of rooms equal to the quarters of their devices, and makes those of an earlier version once.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { days, quarters } from '../../core/time/slots.ts'
import type { TelemetryTx } from '../../db/handles.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { type RoomDaySensor, roomDaySensors } from '../../db/schema/schema.ts'
import { decodeQuarters, emptyDay, encodeQuarters, notMeasured, quartersPerDay } from './quarter-values.ts'
import { findNextRollup } from './retention-store.ts'
import {
  listDeviceQuarters,
  listRoomDays,
  listRoomsWithStays,
  type RoomRange,
  updateRoomDaysFrom,
  upsertRoomDay,
} from './room-days-store.ts'
import { airOf, type DeviceQuarter, peopleOf } from './room-quarters.ts'

/** Rooms whose day one commit makes after an upgrade. On SQLite the event loop is blocked for that time. */
const roomsPerCommit = 10

type DayValues = Record<RoomDaySensor, Int32Array>

/** Computes quarters of rooms again, after the quarters of their devices have changed. Samples of no room, which is 0, are left out. */
export async function updateRoomDays(
  tx: TelemetryTx,
  changed: readonly { readonly room: number; readonly slot: number }[],
): Promise<void> {
  await makeRanges(tx, rangesOf(changed))
}

/** One range for each room and day, from the first to the last quarter that changed. */
function rangesOf(changed: readonly { readonly room: number; readonly slot: number }[]): RoomRange[] {
  const ranges = new Map<string, { room: number; first: number; end: number }>()
  for (const { room, slot } of changed) {
    if (room === 0) continue
    const key = `${room} ${dayOfSlot(slot)}`
    const range = ranges.get(key)
    if (!range) ranges.set(key, { room, first: slot, end: slot + 1 })
    else {
      range.first = Math.min(range.first, slot)
      range.end = Math.max(range.end, slot + 1)
    }
  }
  return [...ranges.values()]
}

const dayOfSlot = (slot: number): number => days.at(quarters.start(slot))
const keyOf = (room: number, day: number): string => `${room} ${day}`

async function makeRanges(tx: TelemetryTx, ranges: readonly RoomRange[]): Promise<void> {
  if (ranges.length === 0) return
  const stored = await listRoomDays(
    tx,
    ranges.map(({ room, first }) => ({ room, day: dayOfSlot(first) })),
  )
  const known = new Map(stored.map((row) => [keyOf(row.room, row.day), row]))
  const made = new Map(
    ranges.map(({ room, first, end }) => {
      const day = dayOfSlot(first)
      const row = known.get(keyOf(room, day))
      const values = Object.fromEntries(
        roomDaySensors.map((sensor) => [sensor, row ? decodeQuarters(row[sensor], sensor) : emptyDay()]),
      ) as DayValues
      const start = day * quartersPerDay
      for (const sensor of roomDaySensors) values[sensor].fill(notMeasured, first - start, end - start)
      return [keyOf(room, day), { room, day, values }] as const
    }),
  )
  const rows = await listDeviceQuarters(tx, ranges)
  for (let at = 0; at < rows.length; ) {
    const { room, slot } = rows[at] as (typeof rows)[number]
    const devices: DeviceQuarter[] = []
    for (; rows[at]?.room === room && rows[at]?.slot === slot; at++) devices.push(deviceQuarter(rows[at] as Row))
    const { values } = made.get(keyOf(room, dayOfSlot(slot))) as { values: DayValues }
    for (const sensor of roomDaySensors) {
      const value = sensor === 'people' ? peopleOf(devices) : airOf(devices, sensor)
      if (value !== undefined) values[sensor][slot % quartersPerDay] = value
    }
  }
  for (const { room, day, values } of made.values()) {
    const encoded = Object.fromEntries(
      roomDaySensors.map((sensor) => [sensor, encodeQuarters(values[sensor], sensor)]),
    ) as Record<RoomDaySensor, Buffer | null>
    const isEmpty = roomDaySensors.every((sensor) => encoded[sensor] === null)
    if (!isEmpty || known.has(keyOf(room, day))) await upsertRoomDay(tx, { room, day, ...encoded })
  }
}

type Row = Awaited<ReturnType<typeof listDeviceQuarters>>[number]
function deviceQuarter(row: Row): DeviceQuarter {
  const sums = {} as Record<RoomDaySensor, { count: number; sum: number } | undefined>
  for (const sensor of roomDaySensors) {
    const [count, sum] = [row[`${sensor}_count`], row[`${sensor}_sum`]]
    sums[sensor] = sum === null ? undefined : { count, sum: Number(sum) }
  }
  return { isPresence: row.presence === 1, sums }
}

/** The day of the oldest quarter of any device. */
async function findOldestDay(db: OrgDatabase): Promise<number> {
  let oldest = Number.POSITIVE_INFINITY
  for (let endpoint: number | undefined = 0; endpoint !== undefined; ) {
    const next: { endpoint: number; slot: number } | undefined = await findNextRollup.sample_quarters(db, { endpoint })
    if (next) oldest = Math.min(oldest, dayOfSlot(next.slot))
    endpoint = next?.endpoint
    await nextTurn()
  }
  return oldest
}

/**
 * Makes the rollups of the time before the upgrade, the newest day first, so that reports know more and more of the past. It goes on after a
 * restart. `from` is the day that was made last, null before the first.
 */
export async function makeOlderRoomDays(
  db: OrgDatabase,
  from: number | null,
  now: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const last = await findOldestDay(db)
  const rooms = (await listRoomsWithStays(db)).map((row) => row.room_id)
  for (let day = (from ?? days.at(now) + 2) - 1; day >= last; day--) {
    for (let at = 0; at < rooms.length; at += roomsPerCommit) {
      if (signal?.aborted) return
      const first = day * quartersPerDay
      const ranges = rooms.slice(at, at + roomsPerCommit).map((room) => ({ room, first, end: first + quartersPerDay }))
      await db.telemetry((tx) => makeRanges(tx, ranges))
      // SQLite answers synchronously, and other work must have its turn.
      await nextTurn()
    }
    await db.telemetry((tx) => updateRoomDaysFrom(tx, { day }))
  }
  await db.telemetry((tx) => updateRoomDaysFrom(tx, { day: 0 }))
}
