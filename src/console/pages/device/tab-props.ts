// Defines the props that every tab of the device page receives.
import type { DeviceDetails } from '../../domain/fleet/device/device.ts'

export interface TabProps {
  readonly device: DeviceDetails
  readonly etag: string | undefined
}
