// Decides whether a unit is healthy while it soaks, and whether so many units failed that a job stops. [contract 12.states]

import { minuteMs } from '../../../../contract/durations.ts'
import type { EndpointState } from '../../../../contract/fleet/endpoints.ts'
import { incidentRules, type RuleId, type Severity } from '../../../../contract/incidents/rule-table.ts'

interface EndpointHealthFacts {
  /** The label of the endpoint. */
  readonly name: string
  /** A device that is asleep is left out. */
  readonly state: EndpointState
  /** When it last connected or disconnected; null if it never was connected. */
  readonly changedAt: number | null
  /** How many connections ended since the unit began, without those that a server or a gateway ended. */
  readonly disconnects: number
}

/** An incident that opened on a room of the unit, or on an endpoint there, since the unit began. */
interface IncidentFacts {
  readonly id: number
  readonly rule: RuleId
  readonly severity: Severity
}

/** A location of the unit, with the endpoints that have been connected before. */
interface LocationHealthFacts {
  readonly name: string
  readonly endpointCount: number
  readonly offlineCount: number
  /** How many of the offline ones belong to the unit. */
  readonly offlineInUnitCount: number
}

export interface UnitHealthFacts {
  readonly now: number
  /** While a job is paused, a device that is offline may come back without a limit. Its soak begins again when the job is resumed. */
  readonly isPaused?: boolean
  /** A reboot that the job asked for is a disconnect that it caused on purpose. */
  readonly isRestarted: boolean
  readonly endpoints: readonly EndpointHealthFacts[]
  readonly incidents: readonly IncidentFacts[]
  readonly locations: readonly LocationHealthFacts[]
}

/**
 * `reconnecting`: a device is offline for the first time and may still come back, so the soak must not end yet. `outage`: a location is
 * offline, so the job is paused and the unit is not blamed.
 */
export type Health =
  | { readonly state: 'healthy' }
  | { readonly state: 'reconnecting' | 'unhealthy' | 'outage'; readonly reason: string }

/** A device that is offline for longer did not reconnect: `device.offline` opens its incident after the same time. */
export const reconnectMs = 5 * minuteMs

const allowedReconnects = 1

export function judgeHealth(facts: UnitHealthFacts): Health {
  const connection = worstConnection(facts)
  const { isPaused = false } = facts
  const incidents = facts.incidents.filter(countsAgainstUnit)
  const incident = incidents.find((each) => !isAboutConnection(each)) ?? incidents[0]
  const isOfflineOnly = incident === undefined || isAboutConnection(incident)
  const outage = facts.locations.find(isOutage)
  if (outage && isOfflineOnly && (incident || connection.state !== 'healthy')) {
    const { name, offlineCount, endpointCount } = outage
    return { state: 'outage', reason: `${offlineCount} of ${endpointCount} devices of ${name} are offline` }
  }
  const isExcusedByPause = isPaused && isOfflineOnly
  if (incident) {
    return {
      state: isExcusedByPause ? 'reconnecting' : 'unhealthy',
      reason: `incident ${incident.id} (${incident.rule}) opened`,
    }
  }
  return isExcusedByPause && connection.state === 'unhealthy' ? { ...connection, state: 'reconnecting' } : connection
}

function worstConnection({ endpoints, now, isRestarted }: UnitHealthFacts): Health {
  const allowed = allowedReconnects + (isRestarted ? 1 : 0)
  const unstable = endpoints.find(({ disconnects }) => disconnects > allowed)
  if (unstable) return { state: 'unhealthy', reason: `${unstable.name} disconnected ${unstable.disconnects} times` }
  const offline = endpoints.filter(({ state }) => state === 'OFFLINE')
  const offlineTooLong = offline.find(({ changedAt }) => changedAt === null || now - changedAt >= reconnectMs)
  if (offlineTooLong) return { state: 'unhealthy', reason: `${offlineTooLong.name} is offline` }
  const unknown = endpoints.find(({ state }) => state === 'UNKNOWN')
  if (unknown) return { state: 'reconnecting', reason: `${unknown.name} cannot be seen now` }
  const [first] = offline
  return first ? { state: 'reconnecting', reason: `${first.name} is offline` } : { state: 'healthy' }
}

const countsAgainstUnit = ({ rule, severity }: IncidentFacts): boolean =>
  severity !== 'INFO' && incidentRules[rule].countsAgainstJob

const isAboutConnection = ({ rule }: IncidentFacts): boolean => incidentRules[rule].isAboutConnection

/** If only devices of the unit are offline, the change may have caused it, however small the location is. */
const isOutage = ({ endpointCount, offlineCount, offlineInUnitCount }: LocationHealthFacts): boolean =>
  offlineCount * 2 >= endpointCount && offlineCount > offlineInUnitCount

interface FailureLimit {
  /** The job stops if more than this percentage of the units that began has failed. */
  readonly percent: number
  /** The job stops only if at least this number of units has failed. */
  readonly atLeast: number
}

/** The counts since the job was last resumed or retried. */
interface FailureCounts {
  readonly begun: number
  readonly failed: number
}

/** Whether so many units failed that the job stops. */
export const isOverLimit = ({ begun, failed }: FailureCounts, { percent, atLeast }: FailureLimit): boolean =>
  failed >= atLeast && failed * 100 > percent * begun
