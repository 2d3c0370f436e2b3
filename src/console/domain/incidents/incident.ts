// An incident as the API returns it, and how long it has lasted, how bad it is and who has it. [contract 10.states]

import { modelOf } from '../../../contract/device/models.ts'
import { type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { isOpenState } from '../../../contract/incidents/states.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { compareText } from '../../../contract/search-text.ts'
import { shortTime } from '../../parts/text/time.tsx'

export type ListedIncident = ResponseOf<Operations['incidentsList']>['incidents'][number]
export type IncidentDetails = ResponseOf<Operations['incidentsGet']>

export const isOpenIncident = ({ state }: Pick<ListedIncident, 'state'>): boolean => isOpenState(state)

/** A snoozed incident is set aside: it is not in the work list, and not counted. */
export function isSnoozed({ snoozedUntil }: Pick<ListedIncident, 'snoozedUntil'>, now: number): boolean {
  if (snoozedUntil === undefined) return false
  return snoozedUntil === 'cleared' || Date.parse(snoozedUntil) > now
}

/** "until 16:00" or "until resolved". The timeline has the same values. */
export const snoozeText = (until: string): string =>
  until === 'cleared' ? 'until resolved' : `until ${shortTime(Date.parse(until))}`

/** Says that an incident is snoozed or flapping; empty for most incidents. */
export const remarkText = (incident: ListedIncident, now: number): string =>
  [isSnoozed(incident, now) && `Snoozed ${snoozeText(incident.snoozedUntil ?? '')}`, incident.flapping && 'Flapping']
    .filter(Boolean)
    .join(' · ')

/** An incident lasts from the beginning of its trouble, not from its opening. */
export const incidentDurationMs = ({ since, resolvedAt }: ListedIncident, now: number): number =>
  (resolvedAt === undefined ? now : Date.parse(resolvedAt)) - Date.parse(since)

/** 0 is the worst severity. */
export const severityRank = (severity: Severity): number => severities.length - 1 - severities.indexOf(severity)

/** Sorts by severity, then by duration. */
export const compareWorstFirst = (a: ListedIncident, b: ListedIncident): number =>
  severityRank(a.severity) - severityRank(b.severity) || compareText(a.since, b.since) || Number(a.id) - Number(b.id)

/** "Assigned to Nora", "Acknowledged by Nora" or "Unassigned". */
export function assigneeText({ assignee, acknowledgedBy }: ListedIncident): string {
  if (assignee) return `Assigned to ${assignee.name}`
  return acknowledgedBy ? `Acknowledged by ${acknowledgedBy.name}` : 'Unassigned'
}

/** The name of the cause, with a model in words. */
export const causeName = ({ level, name }: ListedIncident['cause']): string =>
  level === 'MODEL' ? modelOf(name).name : name

/** Incidents with the same key have the same cause. */
export const causeKey = ({ rule, cause }: Pick<ListedIncident, 'rule' | 'cause'>): string =>
  `${rule} ${cause.level} ${cause.id}`
