// What a device is called, which clock it lives by, and how its calls are told.
import { modelOf } from '../../../contract/models.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { isTimeZone } from '../../parts/text/time.tsx'
import { useSession } from '../../session.ts'

export type DeviceDetails = ResponseOf<Operations['endpointsGet']>
/** As the long list has it. */
export type ListedDevice = ResponseOf<Operations['endpointsBasicList']>['endpoints'][number]

export const deviceName = ({ model, serial }: Pick<DeviceDetails, 'model' | 'serial'>): string =>
  `${modelOf(model).name} ${serial}`

/** The zone of the device, else the organisation's. */
export function useDeviceTimeZone({ timezone }: Pick<DeviceDetails, 'timezone'>): string {
  const { org } = useSession()
  return timezone && isTimeZone(timezone) ? timezone : org.timezone
}

type CallStatus = DeviceDetails['inCallStatus']
const apps = { ZOOM: 'Zoom', TEAMS: 'Teams', MEET: 'Meet' } as const

/** "in a Zoom call"; undefined when it is in none, or nobody knows. */
export function callText(status: CallStatus): string | undefined {
  if (status === undefined || status === 'NONE') return undefined
  return status === 'OTHER' ? 'in a call' : `in a ${apps[status]} call`
}

/** "Zoom", for a column that asks whether it is in a call. */
export function callLabel(status: CallStatus): string | undefined {
  if (status === undefined || status === 'NONE') return undefined
  return status === 'OTHER' ? 'Yes' : apps[status]
}
