// Makes the content of a message `report.month`: the totals of a month, and the rooms and locations to look at. [contract 16.monthMessage]
import {
  type MonthMessage,
  type MonthMessageRow,
  type MonthMessageTotals,
  monthMessageRows,
} from '../../../contract/reports/month-message.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { availabilityOptionsOf } from '../availability/kind.ts'
import { listNamesOfLocations, listRegionNames } from '../incidents/store.ts'
import { MonthReport, monthText } from '../month/month-report.ts'
import { hasTooMany } from '../report-request.ts'
import { findReportOrg } from '../store.ts'
import type { Turns } from '../turns.ts'

/** The places that a channel is limited to; empty lists mean all. */
export interface ChannelPlaces {
  readonly regionIds: readonly number[]
  readonly locationIds: readonly number[]
}

/** The context sees the regions of the channel. `month` counts months since the year 0. */
export async function makeMonthMessage(
  ctx: RequestContext,
  { regionIds, locationIds }: ChannelPlaces,
  month: number,
  turns: Turns,
): Promise<MonthMessage> {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const scope = { filters: {}, ...(locationIds.length > 0 && { locationIds: new Set(locationIds) }) }
  const asked = new MonthReport(ctx, org, month, scope)
  const rooms = await asked.rooms(turns)
  const names = [
    ...(await listRegionNames(ctx.db, { ids: regionIds })),
    ...(await listNamesOfLocations(ctx.db, { ids: locationIds })),
  ].map(({ name }) => name)
  const [region, location] = [onlyOne(regionIds), onlyOne(locationIds)]
  const head = {
    month: monthText(month),
    before: monthText(month - 1),
    rooms: rooms.length,
    ...(names.length > 0 && { places: names }),
    ...(location !== undefined ? { pageFilter: { location } } : region !== undefined && { pageFilter: { region } }),
  }
  if (hasTooMany(asked.request, rooms.length)) return head
  const former = new MonthReport(ctx, org, month - 1, scope)
  const locations = await asked.firstByAvailability(
    { groupBy: 'location', sort: 'availability' },
    monthMessageRows,
    turns,
  )
  const charged = await asked.firstByAvailability({ groupBy: 'room', sort: '-chargedSeconds' }, monthMessageRows, turns)
  const air = await asked.firstByAir({ groupBy: 'room', sort: '-outsideShare' }, monthMessageRows, turns)
  const use = await asked.firstByUse({ groupBy: 'room', sort: 'use' }, monthMessageRows, turns)
  return {
    ...head,
    figures: {
      availabilityTarget: availabilityOptionsOf({}, org).target,
      totals: { month: totalsOf(await asked.figures(turns)), before: totalsOf(await former.figures(turns)) },
      locationsBelowTarget: locations
        .filter(({ isTargetMet }) => isTargetMet === false)
        .flatMap((row) => rowOf(row, row.availability)),
      mostCharged: charged
        .filter(({ chargedSeconds }) => chargedSeconds > 0)
        .flatMap((row) => rowOf(row, row.chargedSeconds)),
      worstAir: air.filter(({ outsideQuarters }) => outsideQuarters > 0).flatMap((row) => rowOf(row, row.outsideShare)),
      leastUsed: use.flatMap((row) => rowOf(row, row.use)),
    },
  }
}

const onlyOne = (ids: readonly number[]): number | undefined => (ids.length === 1 ? ids[0] : undefined)

function totalsOf({
  availability: { availability, roomsBelowTarget },
  use: { use },
  air: { outsideShare },
  incidents: { incidents, endMedianSeconds },
}: Awaited<ReturnType<MonthReport['figures']>>): MonthMessageTotals {
  return {
    ...(availability !== undefined && { availability }),
    ...(roomsBelowTarget !== undefined && { roomsBelowTarget }),
    ...(use !== undefined && { use }),
    ...(outsideShare !== undefined && { outsideShare }),
    incidents,
    ...(endMedianSeconds !== undefined && { endMedianSeconds }),
  }
}

interface PlaceOfRow {
  readonly room?: { readonly id: number; readonly name: string }
  readonly location?: { readonly id: number; readonly name: string }
}

/** Rows without the figure are last in the report, and are left out. */
function rowOf({ room, location }: PlaceOfRow, value: number | undefined): MonthMessageRow[] {
  if (value === undefined) return []
  const { id, name = '' } = room ?? location ?? {}
  return [{ ...(id !== undefined && { id }), name, ...(room && location && { locationName: location.name }), value }]
}
