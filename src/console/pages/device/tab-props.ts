// Defines the props that every tab of the device page receives.
import type { Device } from '../../domain/device/device.ts'

export interface TabProps {
  readonly device: Device
  readonly etag: string | undefined
}
