// Decides what the device of an endpoint can do, and says in words what it cannot. [contract 5.1.actions]
import { actionsOf, type DeviceAction } from '../../../contract/device/models.ts'
import { hasProfilesOfSource, type SourceType } from '../../../contract/fleet/drivers.ts'
import { Failure } from '../../core/failure.ts'

/** The columns that decide. `actions` is the reported list as JSON text (`reportedList`), or null. */
export interface DescribedDevice {
  readonly model: string
  readonly actions: string | null
}

export const canDo = ({ model, actions }: DescribedDevice, action: DeviceAction): boolean =>
  actionsOf(model, actions === null ? null : JSON.parse(actions)).includes(action)

export interface ProfiledDevice extends DescribedDevice {
  readonly source_type: SourceType | null
}

/** Whether the device can have a profile: it has settings, and they are not those of a source. [contract 15.devices] */
export const takesProfile = (device: ProfiledDevice): boolean =>
  !hasProfilesOfSource(device.source_type) && canDo(device, 'config')

/** The reasons of operations that are SKIPPED, and of rooms that a job skips. */
export const inabilityTexts: Readonly<Record<DeviceAction | 'profile', string>> = {
  reboot: 'The device cannot be restarted remotely.',
  message: 'The device cannot show messages.',
  logs: 'The device cannot send logs.',
  config: 'The settings of the device cannot be changed remotely.',
  power: 'The device cannot be switched on or off remotely.',
  profile: 'The device takes no profile: it has no settings, or they come from Neat Pulse.',
}

/** Refuses a request for one endpoint whose device cannot do it. */
export function requireAction(endpoint: DescribedDevice & { readonly id: string }, action: DeviceAction): void {
  if (canDo(endpoint, action)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `endpoint ${endpoint.id} does not have the action ${action}. ${inabilityTexts[action]}`,
  )
}

export function requireProfileAllowed(endpoint: ProfiledDevice & { readonly id: string }): void {
  requireAction(endpoint, 'config')
  if (takesProfile(endpoint)) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `endpoint ${endpoint.id} takes no profile, because its settings come from Neat Pulse. Assign the profile there.`,
  )
}
