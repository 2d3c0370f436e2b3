// Makes the figures of one month: those of all its rooms together, and its rooms or locations in the order of a figure. [contract 16.month]
import { dayMs, secondMs } from '../../../contract/durations.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { startOfDay } from '../../core/time/time-zone.ts'
import { airReport } from '../air/kind.ts'
import { AvailabilityReader, availabilityOptionsOf, availabilityReport } from '../availability/kind.ts'
import { reportIncidents } from '../incidents/report-incidents.ts'
import type { ReportOrgRow } from '../make-report.ts'
import { type ReportQuery, type ReportRequest, reportRequestOf } from '../report-request.ts'
import { findReportRooms, type ReportRoom } from '../report-rooms.ts'
import { reportRows, reportTotal } from '../report-rows.ts'
import type { Turns } from '../turns.ts'
import { useReport } from '../use/kind.ts'

export interface MonthScope {
  readonly filters: Pick<ReportQuery, 'hours' | 'days' | 'roomId' | 'regionId' | 'locationId' | 'tag' | 'field'>
  /** Only rooms in these locations; undefined for rooms everywhere. */
  readonly locationIds?: ReadonlySet<number>
}

type Order = Pick<ReportQuery, 'groupBy' | 'sort'>

export class MonthReport {
  readonly #ctx: RequestContext
  readonly #org: ReportOrgRow
  readonly #scope: MonthScope
  readonly #days: { readonly from: string; readonly to: string }
  readonly request: ReportRequest
  #rooms: readonly ReportRoom[] | undefined

  /** `month` counts months since the year 0. */
  constructor(ctx: RequestContext, org: ReportOrgRow, month: number, scope: MonthScope) {
    this.#ctx = ctx
    this.#org = org
    this.#scope = scope
    this.#days = { from: `${monthText(month)}-01`, to: `${monthText(month + 1)}-01` }
    this.request = this.#requestOf({ groupBy: 'region' })
  }

  async figures(turns: Turns) {
    const rooms = await this.rooms(turns)
    const { request } = this
    return {
      use: await reportTotal(rooms, request, useReport(this.#ctx.db), turns),
      availability: await reportTotal(rooms, request, this.#availability(), turns),
      air: await reportTotal(rooms, request, this.#air(), turns),
      incidents: await this.#incidents(rooms, turns),
    }
  }

  async rooms(turns: Turns): Promise<readonly ReportRoom[]> {
    if (!this.#rooms) {
      const { filters, locationIds } = this.#scope
      const found = await findReportRooms(this.#ctx, { ...filters, ...this.#days }, this.request, turns)
      this.#rooms = locationIds ? found.filter(({ location }) => location && locationIds.has(location.id)) : found
    }
    return this.#rooms
  }

  /** The first rows in the order of a figure. */
  async firstByAvailability(order: Order, count: number, turns: Turns) {
    const rows = await reportRows(await this.rooms(turns), this.#requestOf(order), this.#availability(), turns)
    return rows.read(0, Math.min(count, rows.count), turns)
  }

  async firstByUse(order: Order, count: number, turns: Turns) {
    const rows = await reportRows(await this.rooms(turns), this.#requestOf(order), useReport(this.#ctx.db), turns)
    return rows.read(0, Math.min(count, rows.count), turns)
  }

  async firstByAir(order: Order, count: number, turns: Turns) {
    const rows = await reportRows(await this.rooms(turns), this.#requestOf(order), this.#air(), turns)
    return rows.read(0, Math.min(count, rows.count), turns)
  }

  async #incidents(rooms: readonly ReportRoom[], turns: Turns) {
    const { filters, locationIds } = this.#scope
    const { tag, field, ...places } = filters
    const isOfRooms = tag !== undefined || field !== undefined || locationIds !== undefined
    const roomIds = isOfRooms ? new Set(rooms.map(({ id }) => id)) : undefined
    const timeOf = (day: string) => startOfDay(this.#org.timezone, Date.parse(day) / dayMs) * secondMs
    const window = { from: timeOf(this.#days.from), to: timeOf(this.#days.to) }
    return (await reportIncidents(this.#ctx, { ...places, roomIds }, window, 'rule', turns)).counts
  }

  #availability() {
    const options = availabilityOptionsOf({}, this.#org)
    return availabilityReport(new AvailabilityReader(this.#ctx, this.request, options), options)
  }

  #air() {
    return airReport(this.#ctx.db, undefined, this.#org.air_limits)
  }

  #requestOf(order: Order): ReportRequest {
    const query = { ...this.#scope.filters, ...this.#days, ...order }
    return reportRequestOf(query, this.#org, this.#ctx.clock.now())
  }
}

export const monthText = (month: number): string =>
  `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
