// Packs the values of the 96 quarters of a day into bytes, and reads them: one, two or four bytes for each quarter. Values are whole
// numbers: temperature and humidity in tenths, and people as `packPeople` has them.
import type { RoomDaySensor } from '../../db/schema/schema.ts'

export const quartersPerDay = 96

/** Stands for a quarter in which nothing was measured. It is less than every value. */
export const notMeasured = -0x8000_0000

const maxOneByte = 0xff
const maxTwoBytes = 0xffff

/** A day without any value. */
export const emptyDay = (): Int32Array => new Int32Array(quartersPerDay).fill(notMeasured)

/** Returns null for a day without any value. */
export function encodeQuarters(values: Int32Array, sensor: RoomDaySensor): Buffer | null {
  const added = addedTo(sensor)
  let max = 0
  for (const value of values) if (value !== notMeasured) max = Math.max(max, value + added)
  if (max === 0) return null
  const width = max <= maxOneByte ? 1 : max <= maxTwoBytes ? 2 : 4
  const bytes = Buffer.alloc(quartersPerDay * width)
  values.forEach((value, quarter) => {
    if (value !== notMeasured) bytes.writeUIntLE(value + added, quarter * width, width)
  })
  return bytes
}

export function decodeQuarters(bytes: Buffer | Uint8Array | null, sensor: RoomDaySensor): Int32Array {
  const values = emptyDay()
  if (bytes !== null) decodeInto(values, 0, bytes, sensor)
  return values
}

/** Writes the 96 values of a day into a longer list. Quarters without a value are left as they are. */
export function decodeInto(values: Int32Array, first: number, bytes: Uint8Array, sensor: RoomDaySensor): void {
  const added = addedTo(sensor)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const width = bytes.byteLength / quartersPerDay
  for (let quarter = 0; quarter < quartersPerDay; quarter++) {
    const stored =
      width === 1
        ? view.getUint8(quarter)
        : width === 2
          ? view.getUint16(quarter * 2, true)
          : view.getUint32(quarter * 4, true)
    if (stored !== 0) values[first + quarter] = stored - added
  }
}

/** The lowest value of a sensor is stored as 1, because 0 stands for a quarter without a value. Only temperatures can be below 0. */
const addedTo = (sensor: RoomDaySensor): number => (sensor === 'temp' ? 401 : 1)

/** People are stored in hundredths, with a mark if a sensor that only knows 0 and 1 has seen them. */
export const packPeople = (hundredths: number, isPresence: boolean): number => hundredths * 2 + (isPresence ? 1 : 0)
export const peopleHundredths = (packed: number): number => packed >> 1
export const isPresenceMark = (packed: number): boolean => (packed & 1) === 1
