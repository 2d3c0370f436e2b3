// Defines the props of the dialogs that act on a device and show its paired devices.
import type { Device } from '../../domain/device/device.ts'
import type { Pair } from '../../domain/device/pair-group.ts'

export interface PairDialogProps {
  readonly device: Device
  readonly pair: Pair
  readonly opened: boolean
  readonly onClose: () => void
}
