// Says which incidents have a device that can be restarted from here now.
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { incidentRules } from '../../../../contract/incidents/rule-table.ts'
import { operationQuery } from '../../../api.ts'
import { hasAction, type ListedDevice } from '../../fleet/device/device.ts'
import { isOpenIncident, type ListedIncident } from '../incident.ts'

type Device = Pick<ListedDevice, 'id' | 'roomId' | 'connected' | 'model' | 'actions'>

export interface RestartableDevices {
  readonly ids: ReadonlySet<string>
  readonly roomIds: ReadonlySet<number>
}

/** Only a connected device gets the request. */
export function restartableDevices(devices: readonly Device[]): RestartableDevices {
  const able = devices.filter((device) => device.connected && hasAction(device, 'reboot'))
  return { ids: new Set(able.map(({ id }) => id)), roomIds: new Set(able.flatMap(({ roomId }) => roomId ?? [])) }
}

/** A device that is offline cannot be restarted remotely; a certificate, a channel or a job has no device. */
export function canRestart(incident: ListedIncident, { ids, roomIds }: RestartableDevices): boolean {
  const { subject } = incidentRules[incident.rule]
  if (!isOpenIncident(incident) || incident.rule === 'device.offline') return false
  if (subject !== 'endpoint' && subject !== 'room') return false
  if (incident.cause.level === 'ENDPOINT') return ids.has(incident.cause.id)
  return incident.roomIds.some((id) => roomIds.has(id))
}

/** Until the devices are known, nothing can be restarted. */
export function useCanRestart(options: { readonly enabled: boolean }): (incident: ListedIncident) => boolean {
  const { data } = useQuery({ ...operationQuery('endpointsBasicList'), ...options })
  const devices = useMemo(() => restartableDevices(data?.body.endpoints ?? []), [data])
  return useCallback((incident) => canRestart(incident, devices), [devices])
}
