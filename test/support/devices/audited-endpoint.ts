// How the audit log names a device of a test. [contract 5.1.label]
import { endpointLabel } from '../../../src/contract/fleet/endpoint-label.ts'

interface NamedDevice {
  readonly id: string
  readonly serial: string
  readonly model?: string
}

export const auditTarget = ({ id, serial, model = 'NF19B1' }: NamedDevice) => ({
  type: 'endpoint',
  id,
  name: endpointLabel({ model, serial }),
})

export const auditAffected = (device: NamedDevice) => ({ ...auditTarget(device), serial: device.serial })
