// Answers reportsAvailability: the rows, and for one room the periods that its figures consist of. [contract 16.availability]
import { minuteSeconds } from '../../../contract/durations.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid } from '../../core/failure.ts'
import { CountedZones } from '../counted-zones.ts'
import { makeReport } from '../make-report.ts'
import type { ReportQueue } from '../turns.ts'
import { AvailabilityReader, availabilityOptionsOf, availabilityReport, periodsOfRoom } from './kind.ts'
import { retainedFrom } from './room-pasts.ts'

type Query = InputOf<'reportsAvailability'>['query']

export function reportsAvailability(ctx: RequestContext, queue: ReportQueue, query: Query, csv: boolean) {
  const { roomId, groupBy = 'room', periods: hasPeriods = false } = query
  if (hasPeriods && (roomId === undefined || groupBy !== 'room')) {
    throw invalid([{ field: 'periods', error: 'needs roomId, and is not possible with groupBy' }])
  }
  return makeReport(ctx, queue, query, csv, (org, request) => {
    const options = availabilityOptionsOf(query, org)
    const reader = new AvailabilityReader(ctx, request, options)
    const head = {
      availabilityTarget: options.target,
      ignoreUnderMinutes: options.ignoreUnderSeconds / minuteSeconds,
      exclude: options.excluded.size === 0 ? 'none' : [...options.excluded].join(),
      connectionsFrom: isoTime(retainedFrom(ctx.clock.now(), ctx.settings.rollupRetentionSeconds)),
      incidentsFrom: isoTime(retainedFrom(ctx.clock.now(), ctx.settings.incidentRetentionSeconds)),
    }
    return {
      ...availabilityReport(reader, options),
      async head([room], turns) {
        if (!hasPeriods || !room) return head
        const zone = await new CountedZones(request).of(room.zone, turns)
        return { ...head, ...(await periodsOfRoom(reader, { room, zone }, turns)) }
      },
    }
  })
}
