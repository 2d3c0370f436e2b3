// The counted quarters of the window of a report, in each time zone once, in parts for groups of time.
import { LRUCache } from 'lru-cache'
import { daySeconds } from '../../contract/durations.ts'
import type { ReportGroup } from '../../contract/reports/report-query.ts'
import { type CountedQuarter, countedQuarters, type Window } from '../../insight/counted-time.ts'
import { days } from '../core/time/slots.ts'
import type { ReportRequest } from './report-request.ts'
import type { Turns } from './turns.ts'

/** Quarters that belong to one row. */
export interface CountedPart {
  /** The day or the Monday of the week, since 1970; undefined if the rows are places. */
  readonly day: number | undefined
  readonly quarters: readonly CountedQuarter[]
}

export interface CountedZone {
  readonly window: Window
  readonly parts: readonly CountedPart[]
  /** The days (UTC) of the first and the last counted quarter; the last is before the first if none is counted. */
  readonly firstDay: number
  readonly lastDay: number
}

/** A year of quarters takes some megabytes. */
const maxZones = 32
/** The quarters of so many days are found in one step. */
const daysPerStep = 8

export class CountedZones {
  readonly #request: ReportRequest
  readonly #zones = new LRUCache<string, CountedZone>({ max: maxZones })

  constructor(request: ReportRequest) {
    this.#request = request
  }

  async of(zone: string, turns: Turns): Promise<CountedZone> {
    const known = this.#zones.get(zone)
    if (known) return known
    const made = await countZone(this.#request, zone, turns)
    this.#zones.set(zone, made)
    return made
  }
}

async function countZone({ windowIn, groupBy }: ReportRequest, zone: string, turns: Turns): Promise<CountedZone> {
  const window = windowIn(zone)
  const parts: { readonly day: number | undefined; readonly quarters: CountedQuarter[] }[] = []
  // Steps begin at whole quarters, so no quarter is in two of them.
  for (let from = window.from; from < window.to; ) {
    const to = Math.min(days.start(days.at(from) + daysPerStep), window.to)
    for (const quarter of countedQuarters({ ...window, from, to })) {
      const day = rowDayOf(quarter, groupBy)
      const last = parts.at(-1)
      if (last && last.day === day) last.quarters.push(quarter)
      else parts.push({ day, quarters: [quarter] })
    }
    from = to
    await turns.next()
  }
  const [first, last] = [parts[0]?.quarters[0], parts.at(-1)?.quarters.at(-1)]
  const dayOf = (quarter: CountedQuarter) => Math.floor(quarter.quarter / (daySeconds / 900))
  return { window, parts, firstDay: first ? dayOf(first) : 0, lastDay: last ? dayOf(last) : -1 }
}

function rowDayOf({ day, weekday }: CountedQuarter, groupBy: ReportGroup): number | undefined {
  if (groupBy === 'day') return day
  return groupBy === 'week' ? day - weekday : undefined
}
