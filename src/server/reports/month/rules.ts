// Answers reportsMonth: the figures of all rooms together, of a month and of the month before. [contract 16.month]
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid, mustFind } from '../../core/failure.ts'
import { airReport } from '../air/kind.ts'
import { availabilityOptionsOf } from '../availability/kind.ts'
import { retainedFrom } from '../availability/room-pasts.ts'
import { headOf } from '../make-report.ts'
import { findReportOrg } from '../store.ts'
import type { ReportQueue } from '../turns.ts'
import { type InTurn, MonthReport, monthText } from './month-report.ts'

export async function reportsMonth(
  ctx: RequestContext,
  queue: ReportQueue,
  { month, ...filters }: InputOf<'reportsMonth'>['query'],
) {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const number = monthNumberOf(month)
  const asked = new MonthReport(ctx, org, number, { filters })
  const former = new MonthReport(ctx, org, number - 1, { filters })
  return queue.run(async (turns) => {
    const inTurn: InTurn = (make) => make(turns)
    const [present, before] = [await asked.figures(inTurn), await former.figures(inTurn)]
    return {
      month,
      before: monthText(number - 1),
      ...headOf(asked.request, org, ctx.clock.now()),
      incidentsFrom: isoTime(retainedFrom(ctx.clock.now(), ctx.settings.incidentRetentionSeconds)),
      availabilityTarget: availabilityOptionsOf({}, org).target,
      limits: airReport(ctx.db, undefined, org.air_limits).limits,
      use: { month: present.use, before: before.use },
      availability: { month: present.availability, before: before.availability },
      air: { month: present.air, before: before.air },
      incidents: { month: present.incidents, before: before.incidents },
    }
  })
}

/** Counts months since the year 0. */
function monthNumberOf(text: string): number {
  const [, year, month] = /^([1-8]\d{3})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined) throw invalid([{ field: 'month', error: 'must be a month such as 2026-10' }])
  return Number(year) * 12 + Number(month) - 1
}
