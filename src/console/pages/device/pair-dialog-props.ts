// Defines the props of the dialogs that act on a device and show its paired devices.
import type { DeviceDetails } from '../../domain/fleet/device/device.ts'
import type { PairGroup } from '../../domain/fleet/device/pair-group.ts'

export interface PairDialogProps {
  readonly device: DeviceDetails
  readonly pair: PairGroup
  readonly opened: boolean
  readonly onClose: () => void
}
