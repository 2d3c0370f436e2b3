// A silence as the API returns it: whether it holds now, who may end it, and the words for its time. [contract 10.silence]
import { maxOperatorSilenceMs } from '../../../../contract/incidents/limits.ts'
import { isSecurityRule } from '../../../../contract/incidents/rule-table.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import type { WeeklyHours } from '../../../../contract/weekly-hours.ts'
import { operationQuery } from '../../../api.ts'
import { shortTime } from '../../../parts/text/time.tsx'
import { daysText } from '../../../parts/text/weekdays.ts'

export type ListedSilence = ResponseOf<Operations['silencesList']>['silences'][number]
export type SilencedPlace = ListedSilence['place']

/** No event says that a weekly silence begins or ends, so the server is asked while there is one. */
const weeklyRefetchMs = 60_000

export const silencesQuery = () => ({
  ...operationQuery('silencesList'),
  refetchInterval: ({ state }: { readonly state: { readonly data?: SilencesAnswer | undefined } }) =>
    state.data?.body.silences.some(({ weekly }) => weekly) ? weeklyRefetchMs : (false as const),
})
interface SilencesAnswer {
  readonly body: { readonly silences: readonly ListedSilence[] }
}

export const hasEnded = ({ to }: ListedSilence, now: number): boolean => to !== undefined && Date.parse(to) <= now

/** The answer says whether a silence held at the time of the read. When a weekly one begins depends on the time zones of its locations. */
export const isActiveSilence = (silence: ListedSilence, now: number): boolean =>
  !hasEnded(silence, now) && (silence.active || (silence.weekly === undefined && Date.parse(silence.from) <= now))

/** Ending a silence needs the same rights as making it. */
export function mayEndSilence({ place, rules, from, to, weekly }: ListedSilence, may: SilenceRights): boolean {
  const isLong = weekly !== undefined || to === undefined || Date.parse(to) - Date.parse(from) > maxOperatorSilenceMs
  return (
    may.operate &&
    (may.write || !isLong) &&
    (may.everywhere || !place.all) &&
    (may.manage || !rules?.some((rule) => isSecurityRule(rule)))
  )
}
type SilenceRights = Readonly<Record<'operate' | 'write' | 'everywhere' | 'manage', boolean>>

/** "Mon to Fri, 20:00 to 05:00" */
export function weeklyText({ days, from, to }: WeeklyHours): string {
  const text = daysText(days)
  return text && `${text}, ${from} to ${to}`
}

/** "Until 16:00", or the weekly time. */
export function silenceTimeText({ from, to, weekly }: ListedSilence, now: number): string {
  const start = Date.parse(from) > now ? `From ${shortTime(Date.parse(from))}` : undefined
  const end = to === undefined ? undefined : `until ${shortTime(Date.parse(to))}`
  const text = [weekly && weeklyText(weekly), start, end].filter(Boolean).join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const isSamePlace = (a: SilencedPlace, b: SilencedPlace): boolean =>
  a.regionId === b.regionId &&
  a.locationId === b.locationId &&
  a.roomId === b.roomId &&
  a.endpointId === b.endpointId &&
  a.all === b.all
