// Says how many devices of an outage are online again, and when its incident is resolved. [contract 10.rule]
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { minuteMs } from '../../../contract/durations.ts'
import { sinceOfListed, stateOfListed } from '../../../contract/fleet/endpoints.ts'
import { operationQuery } from '../../api.ts'
import type { ListedDevice } from '../fleet/device/device.ts'
import { type IncidentDetails, isOpenIncident, type ListedIncident } from './incident.ts'

type Device = Pick<ListedDevice, 'id' | 'roomId' | 'connected' | 'connectionTime' | 'state' | 'since'>
type Outage = Pick<ListedIncident, 'rule' | 'state' | 'cause' | 'roomIds' | 'openSubjectCount'> & {
  readonly subjects?: IncidentDetails['subjects']
}

/**
 * "38 online again, resolves in 1 min", or "12 of 38 online again"; undefined if no device is back. A listed incident does not name its
 * devices: it counts as over when all devices of its rooms are online.
 */
export function recoveryText(
  incident: Outage,
  devices: readonly Device[],
  clearMs: number,
  now: number,
): string | undefined {
  if (incident.rule !== 'device.offline' || !isOpenIncident(incident)) return undefined
  const affected = devices.filter(affects(incident))
  const online = affected.filter((device) => stateOfListed(device) === 'ONLINE')
  const count = incident.openSubjectCount
  if (online.length === 0) return undefined
  if (online.length < affected.length || (incident.subjects && online.length < count)) {
    return (
      incident.subjects && `${online.length.toLocaleString('en-GB')} of ${count.toLocaleString('en-GB')} online again`
    )
  }
  const lastReturn = Math.max(...online.map((device) => Date.parse(sinceOfListed(device) ?? '') || 0))
  const minutes = Math.max(1, Math.ceil((lastReturn + clearMs - now) / minuteMs))
  return `${count === 1 ? 'Online' : `${count.toLocaleString('en-GB')} online`} again, resolves in ${minutes} min`
}

function affects({ cause, roomIds, openSubjectCount, subjects }: Outage): (device: Device) => boolean {
  if (subjects) {
    const ids = new Set(subjects.flatMap(({ id, endedAt }) => (endedAt === undefined ? id : [])))
    return ({ id }) => ids.has(id)
  }
  if (cause.level === 'ENDPOINT' && openSubjectCount === 1) return ({ id }) => id === cause.id
  const rooms = new Set(roomIds)
  return ({ roomId }) => roomId !== undefined && rooms.has(roomId)
}

/** The text of an incident, from the states of devices as they change. */
export function useRecoveryText(now: number): (incident: Outage) => string | undefined {
  const devices = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  const rules = useQuery(operationQuery('incidentRulesList')).data?.body.rules
  const clearMinutes = useMemo(() => rules?.find(({ rule }) => rule === 'device.offline')?.clearMinutes, [rules])
  return useCallback(
    (incident) =>
      devices && clearMinutes !== undefined ? recoveryText(incident, devices, clearMinutes * minuteMs, now) : undefined,
    [devices, clearMinutes, now],
  )
}
