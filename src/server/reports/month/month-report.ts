// Makes the figures of one month: those of all its rooms together, and its rooms or locations in the order of a figure. [contract 16.month]
import { dayMs, secondMs } from '../../../contract/durations.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { startOfDay } from '../../core/time/time-zone.ts'
import { airReport } from '../air/kind.ts'
import { AvailabilityReader, availabilityOptionsOf, availabilityReport } from '../availability/kind.ts'
import { reportIncidents } from '../incidents/report-incidents.ts'
import type { ReportOrgRow } from '../make-report.ts'
import type { ReportKind } from '../report-kind.ts'
import { hasTooMany, type ReportQuery, type ReportRequest, reportRequestOf } from '../report-request.ts'
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

/** Makes a part of a report when its turn has come. */
export type InTurn = <T>(make: (turns: Turns) => Promise<T>) => Promise<T>

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

  /** Each report is made in a turn of its own. */
  async figures(inTurn: InTurn) {
    const totalOf = <S, F extends object>(kind: ReportKind<S, F>) =>
      inTurn(async (turns) => reportTotal(await this.rooms(turns), this.request, kind, turns))
    return {
      use: await totalOf(this.use()),
      availability: await totalOf(this.availability()),
      air: await totalOf(this.air()),
      incidents: await inTurn(async (turns) => this.#incidents(await this.rooms(turns), turns)),
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
  async first<S, F extends object>(kind: ReportKind<S, F>, order: Order, count: number, turns: Turns) {
    const rows = await reportRows(await this.rooms(turns), this.#requestOf(order), kind, turns)
    return rows.read(0, count, turns)
  }

  /** Whether the month has ended for each of the rooms. */
  async isOver(turns: Turns): Promise<boolean> {
    const nowSeconds = this.#ctx.clock.now() / secondMs
    return (await this.rooms(turns)).every(({ zone }) => this.request.windowIn(zone).to <= nowSeconds)
  }

  async hasTooManyRooms(turns: Turns): Promise<boolean> {
    return hasTooMany(this.request, (await this.rooms(turns)).length)
  }

  use() {
    return useReport(this.#ctx.db)
  }

  availability() {
    const options = availabilityOptionsOf({}, this.#org)
    return availabilityReport(new AvailabilityReader(this.#ctx, this.request, options), options)
  }

  air() {
    return airReport(this.#ctx.db, undefined, this.#org.air_limits)
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

  #requestOf(order: Order): ReportRequest {
    const query = { ...this.#scope.filters, ...this.#days, ...order }
    return reportRequestOf(query, this.#org, this.#ctx.clock.now())
  }
}

export const monthText = (month: number): string =>
  `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`
