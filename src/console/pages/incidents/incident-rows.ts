// The rows of the work list: each incident with the names of its place, and how rows are filtered and sorted.
import { useSuspenseQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { dayMs, hourMs } from '../../../contract/durations.ts'
import { ruleNames } from '../../../contract/incidents/rule-names.ts'
import { type RuleId, ruleIds, type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import { useNamedRooms } from '../../domain/fleet/room/room-names.ts'
import { useRoomsWithTag } from '../../domain/fleet/room/room-tags.ts'
import { useSites } from '../../domain/fleet/site/sites.ts'
import {
  compareWorstFirst,
  incidentDurationMs,
  isSnoozed,
  type ListedIncident,
  severityRank,
} from '../../domain/incidents/incident.ts'
import { incidentsQuery, openIncidentsQuery, useWeekCounts } from '../../domain/incidents/incident-list.ts'
import { incidentPlace } from '../../domain/incidents/incident-place.ts'
import { type WeekCount, weekCountOf } from '../../domain/incidents/week-count.ts'
import { filterTests, parseFilter } from '../../parts/table/filter-value.ts'
import type { FilterParams, incidentParams } from '../../parts/table/list-params.ts'
import { type Sort, type SortKey, sortKeyOf, sortRows } from '../../parts/table/sorting.ts'
import { plural } from '../../parts/text/words.ts'
import { useSession } from '../../session.ts'
import { type OpenedPeriod, openedPeriodOf } from './opened-period.ts'

export interface WorkListRow {
  readonly incident: ListedIncident
  /** The room, or how many rooms there are. */
  readonly place: string
  /** The location and the region, as far as they are known. */
  readonly site: string
  /** Set if the incident is about one room. */
  readonly roomId: number | undefined
  /** How often the cause has come in the last 7 days; undefined while this is loading. */
  readonly weekCount: WeekCount | undefined
  /** The normalized text that the search looks in. */
  readonly searchText: string
}

/** The search parameters of the work list. */
export type WorkListFilter = FilterParams<typeof incidentParams>

/** The states that the filter offers. Without one, the list has what needs work: open incidents that are not snoozed. */
export const stateChoices = {
  open: 'Not acknowledged',
  acknowledged: 'Acknowledged',
  snoozed: 'Snoozed',
  unresolved: 'Open and snoozed',
  resolved: 'Resolved (30 days)',
  all: 'All (30 days)',
} as const
/** With the days of the opening, ended incidents are those of these days. Insights do not count merged ones either. */
export const stateChoicesOfPeriod = { ...stateChoices, resolved: 'Resolved', all: 'All but merged' } as const
export type StateChoice = keyof typeof stateChoices
export const isStateChoice = (text: string | undefined): text is StateChoice =>
  text !== undefined && Object.hasOwn(stateChoices, text)

const isSeverity = (text: string): text is Severity => severities.some((severity) => severity === text)
const isRule = (text: string): text is RuleId => ruleIds.some((id) => id === text)

export const assigneeMe = 'me'
export const assigneeNone = 'none'

/** Resolved incidents are kept for more than a year; the list goes back this far. */
const closedDays = 30

export function useIncidentRows(filter: WorkListFilter): readonly WorkListRow[] {
  const { state } = filter
  const { org } = useSession()
  const period = openedPeriodOf(filter, org.timezone)
  const resolvedFrom = useMemo(() => Math.floor((Date.now() - closedDays * dayMs) / hourMs) * hourMs, [])
  const listed = useSuspenseQuery(queryOf(filter, period, resolvedFrom)).data
  const open = useSuspenseQuery(openIncidentsQuery).data
  const isOfPeriod = period !== undefined
  const incidents = useMemo(() => {
    if (isOfPeriod) return listed.filter((incident) => incident.state !== 'MERGED')
    return state === 'all' ? endedAndOpen(listed, open) : listed
  }, [isOfPeriod, state, listed, open])
  const rooms = useNamedRooms()
  const { regions, locationById } = useSites()
  const weekCounts = useWeekCounts()
  return useMemo(() => {
    const regionNames = new Map(regions.map(({ id, name }) => [id, name]))
    return incidents.map((incident) => {
      const place = incidentPlace(incident, (id) => rooms?.[id]?.name)
      const site = [
        namesText(incident.locationIds, (id) => locationById.get(id)?.name, 'location'),
        namesText(incident.regionIds, (id) => regionNames.get(id), 'region'),
      ]
        .filter(Boolean)
        .join(' · ')
      const words = [
        incident.title,
        ruleNames[incident.rule],
        place,
        site,
        incident.cause.name,
        incident.assignee?.name,
      ]
      return {
        incident,
        place,
        site,
        roomId: incident.roomIds.length === 1 ? incident.roomIds[0] : undefined,
        weekCount: weekCounts && weekCountOf(incident, weekCounts),
        searchText: normalizeText(words.join(' ')),
      }
    })
  }, [incidents, rooms, regions, locationById, weekCounts])
}

/** A period can have very many incidents, so the server filters it by what it can filter. */
function queryOf(
  { state, rule, region, location }: WorkListFilter,
  period: OpenedPeriod | undefined,
  resolvedFrom: number,
) {
  const ended = state === 'all' ? 'all' : 'RESOLVED'
  if (!period) return hasEndedIncidents(state) ? incidentsQuery({ state: ended, resolvedFrom }) : openIncidentsQuery
  const [onlyRule, onlyRegion, onlyLocation] = [rule, region, location].map(onlyValue)
  return incidentsQuery({
    state: hasEndedIncidents(state) ? ended : 'open',
    ...period.window,
    ...(onlyRule !== undefined && isRule(onlyRule) && { rule: onlyRule }),
    ...(isId(onlyRegion) && { regionId: Number(onlyRegion) }),
    ...(isId(onlyLocation) && { locationId: Number(onlyLocation) }),
  })
}

/** Undefined if rows can have several values. */
function onlyValue(text: string | undefined): string | undefined {
  const { values, isNot } = parseFilter(text)
  return values.length === 1 && !isNot ? values[0] : undefined
}

const isId = (text: string | undefined): boolean => text !== undefined && /^\d{1,9}$/.test(text)

/** The cause of an incident in an address. */
export const causeInAddress = ({ cause: { level, id } }: Pick<ListedIncident, 'cause'>): string => `${level}:${id}`

/** An incident that has just ended is in both lists until the open ones are read again: as it ended. */
export const endedAndOpen = <T extends Pick<ListedIncident, 'id'>>(
  ended: readonly T[],
  open: readonly T[],
): readonly T[] => [...new Map([...open, ...ended].map((incident) => [incident.id, incident])).values()]

function namesText(ids: readonly number[], nameOf: (id: number) => string | undefined, noun: string): string {
  const [first] = ids
  if (first === undefined) return ''
  return ids.length === 1 ? (nameOf(first) ?? '') : plural(ids.length, noun)
}

export function useIncidentMatcher(
  { q, state, severity, rule, region, location, assignee, tag, cause }: WorkListFilter,
  now: number,
) {
  const ownId = useSession().user?.id
  const tagged = useRoomsWithTag(tag)
  return useMemo(() => {
    const words = searchWords(q ?? '')
    const tests = [
      ...filterTests<ListedIncident, Severity>(severity, (incident, value) => incident.severity === value, isSeverity),
      ...filterTests<ListedIncident, RuleId>(rule, (incident, value) => incident.rule === value, isRule),
      ...filterTests<ListedIncident>(region, ({ regionIds }, id) => regionIds.includes(Number(id))),
      ...filterTests<ListedIncident>(location, ({ locationIds }, id) => locationIds.includes(Number(id))),
      ...filterTests<ListedIncident>(assignee, (incident, value) => matchesAssignee(incident, value, ownId)),
      ...(tagged ? [({ roomIds }: ListedIncident) => roomIds.some((id) => tagged.has(id))] : []),
      ...(cause ? [(incident: ListedIncident) => causeInAddress(incident) === cause] : []),
    ]
    return ({ incident, searchText }: WorkListRow): boolean =>
      matchesState(incident, state, now) && tests.every((test) => test(incident)) && includesAll(searchText, words)
  }, [q, state, severity, rule, region, location, assignee, tagged, cause, ownId, now])
}

function matchesState(incident: ListedIncident, state: string | undefined, now: number): boolean {
  if (hasEndedIncidents(state) || state === 'unresolved') return true
  if (isSnoozed(incident, now)) return state === 'snoozed'
  if (state === 'open') return incident.state === 'OPEN'
  if (state === 'acknowledged') return incident.state === 'ACKNOWLEDGED'
  return state !== 'snoozed'
}

function matchesAssignee({ assignee }: ListedIncident, wanted: string, ownId: string | undefined): boolean {
  if (wanted === assigneeNone) return assignee === undefined
  return assignee?.id === (wanted === assigneeMe ? ownId : wanted)
}

export const incidentSortKeys = {
  severity: ({ incident }) => severityRank(incident.severity),
  place: ({ place }) => place.toLowerCase(),
  title: ({ incident }) => incident.title.toLowerCase(),
  /** An open incident counts as the last to end. */
  ended: ({ incident: { resolvedAt } }) => resolvedAt ?? 'later',
  duration: ({ incident }) => incidentDurationMs(incident, Date.now()),
  week: ({ weekCount }) => weekCount?.count ?? null,
  assignee: ({ incident }) => incident.assignee?.name.toLowerCase() ?? null,
} as const satisfies Readonly<Record<string, SortKey<WorkListRow>>>

/** Whether the list with this state has incidents that have ended. */
export const hasEndedIncidents = (state: string | undefined): boolean => state === 'resolved' || state === 'all'

/** The worst severity comes first, and within it the longest duration. Of incidents that have ended, the last to end comes first. */
export const defaultIncidentSort = (state: string | undefined): Sort =>
  hasEndedIncidents(state) ? { by: 'ended', descending: true } : { by: 'severity', descending: false }

export const sortIncidents = (rows: readonly WorkListRow[], { by, descending }: Sort): readonly WorkListRow[] =>
  sortRows(rows, sortKeyOf(incidentSortKeys, by) ?? (() => 0), descending, (a, b) =>
    compareWorstFirst(a.incident, b.incident),
  )
