// Availability of several rooms together, and the seconds of each class. [contract 16.availability]
import { type AvailabilityRow, availabilityClasses } from '../../../../contract/reports/availability.ts'
import { isTargetMet, roundedAvailability } from '../../../../contract/reports/availability-target.ts'

export type AvailabilityClass = (typeof availabilityClasses)[number]

export const classTitles: Readonly<Record<AvailabilityClass, string>> = {
  up: 'Up',
  short: 'Short interruptions',
  charged: 'Charged',
  silenced: 'Silenced',
  changeWindow: 'Change window',
  service: 'Server restart',
  unknown: 'Gateway or source away',
  asleep: 'Asleep',
  notKnown: 'Not known',
}

/** Classes whose seconds are neither up nor down. */
export const leftOutClasses = ['silenced', 'changeWindow', 'service', 'unknown', 'asleep', 'notKnown'] as const

export const secondsOf = (row: AvailabilityRow, one: AvailabilityClass): number => row[`${one}Seconds`]

export interface AvailabilitySum {
  readonly rooms: number
  readonly seconds: Readonly<Record<AvailabilityClass, number>>
  readonly counted: number
  /** As the service rounds it; undefined if no second is up, short or charged. */
  readonly availability: number | undefined
  /** Undefined without an availability. */
  readonly isTargetMet: boolean | undefined
  readonly belowTarget: number
  readonly outages: number
  readonly longestOutageSeconds: number
}

export function sumRows(rows: readonly AvailabilityRow[], targetPercent: number): AvailabilitySum {
  const seconds = Object.fromEntries(
    availabilityClasses.map((one) => [one, rows.reduce((sum, row) => sum + secondsOf(row, one), 0)]),
  ) as Record<AvailabilityClass, number>
  const all = seconds.up + seconds.short + seconds.charged
  const availability = all === 0 ? undefined : roundedAvailability(1 - seconds.charged / all)
  return {
    rooms: rows.length,
    seconds,
    counted: rows.reduce((sum, row) => sum + row.countedSeconds, 0),
    availability,
    isTargetMet: availability === undefined ? undefined : isTargetMet(availability, targetPercent),
    belowTarget: rows.filter(({ isTargetMet }) => isTargetMet === false).length,
    outages: rows.reduce((sum, row) => sum + row.outages, 0),
    longestOutageSeconds: rows.reduce((max, row) => Math.max(max, row.longestOutageSeconds), 0),
  }
}

export interface LocationSum extends AvailabilitySum {
  readonly id: number | undefined
  readonly name: string
}

/** The worst location comes first. */
export const sumLocations = (rows: readonly AvailabilityRow[], targetPercent: number): readonly LocationSum[] =>
  [...Map.groupBy(rows, ({ location }) => location?.id)]
    .map(([id, members]) => ({
      id,
      name: members[0]?.location?.name ?? 'No location',
      ...sumRows(members, targetPercent),
    }))
    .sort((a, b) => (a.availability ?? 2) - (b.availability ?? 2) || a.name.localeCompare(b.name))
