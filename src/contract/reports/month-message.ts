// The content of a message `report.month`. [contract 16.monthMessage]

/** Rows of each table of a message. */
export const monthMessageRows = 5
/** Places that a message names. */
export const monthMessagePlaces = 3

/** The totals of one month; a figure is absent if nothing was measured. Shares are 0 to 1. */
export interface MonthMessageTotals {
  readonly availability?: number
  readonly roomsBelowTarget?: number
  readonly use?: number
  readonly outsideShare?: number
  readonly incidents: number
  readonly endMedianSeconds?: number
}

/** A room or a location with the figure by which it is in a table. */
export interface MonthMessageRow {
  /** Empty for rooms without a location. */
  readonly name: string
  /** The location of a room. */
  readonly locationName?: string
  /** True for a room that was deleted since. */
  readonly isDeleted?: boolean
  readonly value: number
}

export interface MonthMessage {
  /** A month such as 2026-10. */
  readonly month: string
  readonly before: string
  readonly rooms: number
  /** The first of the regions and locations that the channel is limited to; absent if it is not limited. */
  readonly places?: readonly string[]
  /** How many of these places are not named. */
  readonly otherPlaceCount?: number
  /** The search parameters that limit the pages of the console to these places, if one parameter can. */
  readonly pageFilter?: { readonly region?: number; readonly location?: number }
  /** Absent if the organisation has too many rooms for a report of a month. */
  readonly figures?: {
    /** In percent. */
    readonly availabilityTarget: number
    readonly totals: { readonly month: MonthMessageTotals; readonly before: MonthMessageTotals }
    /** Locations that did not reach the target, the worst first: their availability. */
    readonly locationsBelowTarget: readonly MonthMessageRow[]
    /** Rooms with the most charged time: seconds. */
    readonly mostCharged: readonly MonthMessageRow[]
    /** Rooms with the worst air: the part of the measured time outside of the limits. */
    readonly worstAir: readonly MonthMessageRow[]
    /** Rooms that were used least: the used part of the measured time. */
    readonly leastUsed: readonly MonthMessageRow[]
  }
}
