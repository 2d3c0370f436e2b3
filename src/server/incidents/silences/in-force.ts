// Decides whether a silence covers a rule at a place at a time. No incident opens where one does. [contract 10.silence]

import { isSecurityRule, type RuleId } from '../../../contract/incidents/rule-table.ts'
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'
import { isWithinHours } from '../../core/time/weekly-hours.ts'
import type { OrgReader } from '../../db/handles.ts'
import { listUnendedSilences, type SilenceRow } from './store.ts'

export interface Silence {
  readonly id: number
  readonly placeType: SilenceRow['place_type']
  readonly placeId: string
  /** Undefined means all rules but those about security. */
  readonly rules: ReadonlySet<RuleId> | undefined
  /** Milliseconds. */
  readonly since: number
  readonly until: number | null
  readonly weekly: WeeklyHours | undefined
}

/** The place of a subject, with everything that it is in. A subject in no place, such as a channel, has the organisation's time zone only. */
interface PlaceOfSubject {
  readonly endpointId?: string | undefined
  readonly roomId?: number | null | undefined
  readonly locationId?: number | null | undefined
  readonly regionId?: number | null | undefined
  /** The zone of the location, or else of the organisation. */
  readonly timezone: string
}

export const silenceOf = (row: SilenceRow): Silence => ({
  id: row.id,
  placeType: row.place_type,
  placeId: row.place_id,
  rules: row.rules === null ? undefined : new Set(JSON.parse(row.rules) as RuleId[]),
  since: row.since,
  until: row.until,
  weekly: row.weekly === null ? undefined : JSON.parse(row.weekly),
})

/** Reads the silences that have not ended, also those that have not begun. */
export const readSilences = async (on: OrgReader, now: number): Promise<Silence[]> =>
  (await listUnendedSilences(on, { now })).map(silenceOf)

/** `at` is in milliseconds. */
export const isSilenced = (silences: readonly Silence[], place: PlaceOfSubject, rule: RuleId, at: number): boolean =>
  silences.some(
    (silence) => covers(silence, place) && coversRule(silence, rule) && isInForce(silence, place.timezone, at),
  )

/** Whether the time is between the beginning and the end of a silence, and within its weekly hours. */
export const isInForce = ({ since, until, weekly }: Silence, timezone: string, at: number): boolean =>
  at >= since && (until === null || at < until) && (!weekly || isWithinHours(weekly, timezone, at))

/** A silence about security would hide an attack, so it must name the rule. */
const coversRule = ({ rules }: Silence, rule: RuleId): boolean => (rules ? rules.has(rule) : !isSecurityRule(rule))

function covers({ placeType, placeId }: Silence, place: PlaceOfSubject): boolean {
  switch (placeType) {
    case 'all':
      return true
    case 'region':
      return placeId === textOf(place.regionId)
    case 'location':
      return placeId === textOf(place.locationId)
    case 'room':
      return placeId === textOf(place.roomId)
    case 'endpoint':
      return placeId === place.endpointId
  }
}

const textOf = (id: number | null | undefined): string | undefined => (id == null ? undefined : String(id))
