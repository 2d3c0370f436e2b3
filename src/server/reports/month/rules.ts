// Answers reportsMonth: the figures of all rooms together, of a month and of the month before. [contract 16.month]
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { invalid, mustFind } from '../../core/failure.ts'
import { airReport } from '../air/kind.ts'
import { AvailabilityReader, availabilityOptionsOf, availabilityReport } from '../availability/kind.ts'
import { headOf } from '../make-report.ts'
import { reportRequestOf } from '../report-request.ts'
import { findReportRooms } from '../report-rooms.ts'
import { reportTotal } from '../report-rows.ts'
import { findReportOrg } from '../store.ts'
import type { ReportQueue, Turns } from '../turns.ts'
import { useReport } from '../use/kind.ts'

export async function reportsMonth(
  ctx: RequestContext,
  queue: ReportQueue,
  { month, ...filters }: InputOf<'reportsMonth'>['query'],
) {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const number = monthNumberOf(month)
  const options = availabilityOptionsOf({}, org)
  const air = airReport(ctx.db, undefined, org.air_limits)
  const queryOf = (of: number) => ({
    ...filters,
    ...{ from: `${monthText(of)}-01`, to: `${monthText(of + 1)}-01`, groupBy: 'region' as const },
  })
  const head = headOf(reportRequestOf(queryOf(number), org, ctx.clock.now()), org, ctx.clock.now())
  const figures = async (of: number, turns: Turns) => {
    const query = queryOf(of)
    const request = reportRequestOf(query, org, ctx.clock.now())
    const rooms = await findReportRooms(ctx, query, request, turns)
    const reader = new AvailabilityReader(ctx, request, options)
    return {
      use: await reportTotal(rooms, request, useReport(ctx.db), turns),
      availability: await reportTotal(rooms, request, availabilityReport(reader, options), turns),
      air: await reportTotal(rooms, request, air, turns),
    }
  }
  return queue.run(async (turns) => {
    const [present, former] = [await figures(number, turns), await figures(number - 1, turns)]
    return {
      month,
      before: monthText(number - 1),
      ...head,
      availabilityTarget: options.target,
      limits: air.limits,
      use: { month: present.use, before: former.use },
      availability: { month: present.availability, before: former.availability },
      air: { month: present.air, before: former.air },
    }
  })
}

/** Counts months since the year 0. */
function monthNumberOf(text: string): number {
  const [, year, month] = /^([1-8]\d{3})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined) throw invalid([{ field: 'month', error: 'must be a month such as 2026-10' }])
  return Number(year) * 12 + Number(month) - 1
}

const monthText = (number: number): string => `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`
