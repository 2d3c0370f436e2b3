// The report of the air of rooms, made of the rollups of rooms. [contract 16.air]
import type { Static, TObject } from 'typebox'
import type { AirLimit } from '../../../contract/journal/orgs.ts'
import { type AirField, type AirRow, airFields } from '../../../contract/reports/air.ts'
import type { reportPlace } from '../../../contract/reports/report-query.ts'
import {
  type AirBasis,
  type AirSums,
  addAir,
  airBits,
  airFigures,
  isOutside,
  noAir,
  type OutsideShare,
} from '../../../insight/air.ts'
import { usedFromHundredths } from '../../../insight/use.ts'
import { parseAirLimits } from '../../config/air-limits.ts'
import { invalid } from '../../core/failure.ts'
import { dateOf } from '../../core/time/time-zone.ts'
import type { OrgReader } from '../../db/handles.ts'
import { notMeasured, peopleHundredths } from '../../sensors/rollups/quarter-values.ts'
import { scale } from '../../sensors/scale.ts'
import { listAirDays } from '../quarters-store.ts'
import type { CountedRoom, ReportKind } from '../report-kind.ts'
import { RoomQuarters } from '../room-quarters.ts'

interface Sums extends AirSums {
  countedQuarters: number
  /** `both` in a group of rooms with and without devices that count people. */
  basis: AirBasis | 'both' | undefined
}

type Row = Omit<AirRow, keyof Static<TObject<typeof reportPlace>>>

interface LimitedField {
  readonly name: AirField
  readonly limit: AirLimit
}

/** Rows of days that one statement reads. */
const daysPerStatement = 100

interface AirReport extends ReportKind<Sums, Row> {
  /** The limits of the fields that it counts. */
  readonly limits: Readonly<Partial<Record<AirField, AirLimit>>>
}

export function airReport(db: OrgReader, asked: string | undefined, airLimits: string): AirReport {
  const fields = limitedFields(asked, airLimits)
  const limits = Object.fromEntries(fields.map(({ name, limit }) => [name, limit]))
  return {
    id: 'reportsAir',
    limits,
    head: async () => ({ limits }),
    empty: () => ({ ...noAir(fields.length), countedQuarters: 0, basis: undefined }),
    roomsAtOnce: (days) => Math.max(1, Math.floor(daysPerStatement / (days + 1))),
    async read(rooms) {
      const quarters = new RoomQuarters(rooms, ['people', ...fields.map(({ name }) => name)])
      for (const row of await listAirDays(db, quarters.range)) quarters.add(row)
      const airOf = new Map(rooms.map((counted) => [counted.room.id, roomAir(counted, quarters, fields)]))
      return ({ id }, part, sums) => {
        const { bitsIn, isUsed } = airOf.get(id) as RoomAir
        addAir(sums, part.quarters, bitsIn, isUsed)
        sums.countedQuarters += part.quarters.length
        const basis = isUsed ? 'used' : 'measured'
        sums.basis = sums.basis === undefined || sums.basis === basis ? basis : 'both'
      }
    },
    figure: (sums, name) => shareOf(name === 'outsideShare' ? sums : fieldOf(sums, fields, name)),
    figures: (sums) => rowOf(sums, fields),
    rankedBy: 'outsideShare',
  }
}

/** Sensors without limits cannot be outside, and are left out. */
function limitedFields(asked: string | undefined, airLimits: string): readonly LimitedField[] {
  const limits = parseAirLimits(airLimits)
  const names = asked?.split(',').map((name) => name.trim()) ?? airFields
  if (!names.every((name) => (airFields as readonly string[]).includes(name))) {
    throw invalid([{ field: 'fields', error: `must be names from ${airFields.join(', ')}, separated by commas` }])
  }
  return airFields
    .filter((name) => names.includes(name))
    .map((name) => ({ name, limit: limits[name] }))
    .filter(({ limit }) => limit.min !== undefined || limit.max !== undefined)
}

interface RoomAir {
  readonly bitsIn: (quarter: number) => number
  /** Undefined if no device counted people in the room in the window. */
  readonly isUsed: ((quarter: number) => boolean) | undefined
}

function roomAir({ room, zone }: CountedRoom, quarters: RoomQuarters, fields: readonly LimitedField[]): RoomAir {
  const people = quarters.listOf(room.id, 'people')
  const air = fields.map(({ name, limit }) => ({ values: quarters.listOf(room.id, name), unit: scale[name], limit }))
  const { start } = quarters
  const bitsIn = (quarter: number) => {
    let bits = 0
    for (let field = 0; field < air.length; field++) {
      const { values, unit, limit } = air[field] as (typeof air)[number]
      const value = values?.[quarter - start] ?? notMeasured
      if (value !== notMeasured) bits |= airBits(field, isOutside(value / unit, limit))
    }
    return bits
  }
  const peopleIn = (quarter: number) => people?.[quarter - start] ?? notMeasured
  const hasPeople =
    people !== undefined &&
    zone.parts.some((part) => part.quarters.some(({ quarter }) => peopleIn(quarter) !== notMeasured))
  if (!hasPeople) return { bitsIn, isUsed: undefined }
  return {
    bitsIn,
    isUsed: (quarter) => peopleIn(quarter) !== notMeasured && peopleHundredths(peopleIn(quarter)) >= usedFromHundredths,
  }
}

const fieldOf = (sums: Sums, fields: readonly LimitedField[], name: string): OutsideShare | undefined =>
  sums.fields[fields.findIndex((field) => field.name === name)]

const shareOf = (cell: OutsideShare | undefined): number | undefined =>
  cell && cell.measured > 0 ? cell.outside / cell.measured : undefined

function rowOf(sums: Sums, fields: readonly LimitedField[]): Row {
  const { worstDay, worstHour } = airFigures(sums)
  const ofFields = fields.map(({ name }) => [name, figuresOf(fieldOf(sums, fields, name) as OutsideShare)])
  return {
    countedQuarters: sums.countedQuarters,
    ...(sums.basis !== undefined && sums.basis !== 'both' && { basis: sums.basis }),
    ...figuresOf(sums),
    ...(sums.outside > 0 && worstDay !== undefined && { worstDay: dateOf(worstDay) }),
    ...(sums.outside > 0 && worstHour !== undefined && { worstHour }),
    ...Object.fromEntries(ofFields),
  }
}

function figuresOf(cell: OutsideShare) {
  const share = shareOf(cell)
  return {
    measuredQuarters: cell.measured,
    outsideQuarters: cell.outside,
    ...(share !== undefined && { outsideShare: Number(share.toFixed(4)) }),
  }
}
