// Makes the content of a message `report.month`: the totals of a month, and the rooms and locations to look at. [contract 16.monthMessage]
import {
  type MonthMessage,
  type MonthMessageRow,
  type MonthMessageTotals,
  monthMessagePlaces,
  monthMessageRows,
} from '../../../contract/reports/month-message.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { mustFind } from '../../core/failure.ts'
import { availabilityOptionsOf } from '../availability/kind.ts'
import { listNamesOfLocations, listRegionNames } from '../incidents/store.ts'
import { type InTurn, MonthReport, monthText } from '../month/month-report.ts'
import { findReportOrg } from '../store.ts'
import type { ReportQueue } from '../turns.ts'

/** The places that a channel is limited to; empty lists mean all. */
export interface ChannelPlaces {
  readonly regionIds: readonly number[]
  readonly locationIds: readonly number[]
}

/**
 * The context sees the regions of the channel, and `month` counts months since the year 0. Undefined if the month is not over yet at a
 * location further west.
 */
export async function makeMonthMessage(
  ctx: RequestContext,
  places: ChannelPlaces,
  month: number,
  queue: ReportQueue,
): Promise<MonthMessage | undefined> {
  const org = mustFind(await findReportOrg(ctx.db), `organisation ${ctx.org.id}`)
  const { locationIds } = places
  const scope = { filters: {}, ...(locationIds.length > 0 && { locationIds: new Set(locationIds) }) }
  const asked = new MonthReport(ctx, org, month, scope)
  const former = new MonthReport(ctx, org, month - 1, scope)
  if (!(await queue.run((turns) => asked.isOver(turns)))) return undefined
  // The reports of callers have their turns in between.
  const inTurn: InTurn = (make) => queue.runRest(make)
  const head = {
    month: monthText(month),
    before: monthText(month - 1),
    rooms: (await inTurn((turns) => asked.rooms(turns))).length,
    ...(await placesOf(ctx, places)),
  }
  for (const report of [asked, former]) if (await inTurn((turns) => report.hasTooManyRooms(turns))) return head
  const count = monthMessageRows
  const locations = await inTurn((turns) =>
    asked.first(asked.availability(), { groupBy: 'location', sort: 'availability' }, count, turns),
  )
  const charged = await inTurn((turns) => asked.first(asked.availability(), { sort: '-chargedSeconds' }, count, turns))
  const air = await inTurn((turns) => asked.first(asked.air(), { sort: '-outsideShare' }, count, turns))
  const use = await inTurn((turns) => asked.first(asked.use(), { sort: 'use' }, count, turns))
  const isBelow = ({ isTargetMet }: { readonly isTargetMet?: boolean }) => isTargetMet === false
  return {
    ...head,
    figures: {
      availabilityTarget: availabilityOptionsOf({}, org).target,
      totals: { month: totalsOf(await asked.figures(inTurn)), before: totalsOf(await former.figures(inTurn)) },
      locationsBelowTarget: locations.filter(isBelow).flatMap((row) => rowOf(row, row.availability)),
      mostCharged: charged
        .filter(({ chargedSeconds }) => chargedSeconds > 0)
        .flatMap((row) => rowOf(row, row.chargedSeconds)),
      worstAir: air.filter(({ outsideQuarters }) => outsideQuarters > 0).flatMap((row) => rowOf(row, row.outsideShare)),
      leastUsed: use.flatMap((row) => rowOf(row, row.use)),
    },
  }
}

/** The names of some of the places, and the parameter with which the console shows just these places. */
async function placesOf(
  { db }: RequestContext,
  { regionIds, locationIds }: ChannelPlaces,
): Promise<Pick<MonthMessage, 'places' | 'otherPlaceCount' | 'pageFilter'>> {
  const count = regionIds.length + locationIds.length
  if (count === 0) return {}
  const known = [
    ...(await listRegionNames(db, { ids: regionIds })),
    ...(await listNamesOfLocations(db, { ids: locationIds })),
  ]
  // A channel keeps its last place when that is deleted.
  const names = known.length > 0 ? known.map(({ name }) => name) : ['a deleted place']
  const places = names.slice(0, monthMessagePlaces)
  const [region, location] = [onlyOne(regionIds), onlyOne(locationIds)]
  const pageFilter =
    location !== undefined ? { location } : region !== undefined && locationIds.length === 0 ? { region } : undefined
  return {
    places,
    ...(names.length > places.length && { otherPlaceCount: names.length - places.length }),
    ...(pageFilter && { pageFilter }),
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
  readonly room?: { readonly name: string }
  readonly location?: { readonly name: string }
  readonly deletedAt?: string
}

/** Rows without the figure are last in the report, and are left out. */
function rowOf({ room, location, deletedAt }: PlaceOfRow, value: number | undefined): MonthMessageRow[] {
  if (value === undefined) return []
  if (!room) return [{ name: location?.name ?? '', value }]
  const place = { name: room.name, ...(location && { locationName: location.name }) }
  return [{ ...place, ...(deletedAt !== undefined && { isDeleted: true }), value }]
}
