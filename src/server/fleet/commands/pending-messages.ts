// Lists the messages for a device that subscribes or is woken: its config first, then its commands, oldest first. [contract 8.operations]
import type { DownKind, DownMessage } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import type { DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { uploadUrl } from '../bug-reports/upload.ts'
import { findPendingConfig } from '../configs/reported.ts'
import { listVersionMessages } from '../gateways/device-list.ts'
import { takePendingCommands } from './progress.ts'

/** The config comes before commands, so a command such as a reboot finds the newest settings on the device. */
export async function listPendingMessages(
  services: Services,
  connection: DeviceConnection,
  listensTo: (kind: DownKind) => boolean,
): Promise<readonly DownMessage[]> {
  const { device } = connection
  const config = listensTo('config') ? await findPendingConfig(services, device) : undefined
  const commands = listensTo('operation')
    ? await takePendingCommands(services, connection, (id) => uploadUrl(services, device.org, id))
    : []
  return [
    ...(listensTo('devices') ? await listVersionMessages(services, connection) : []),
    ...(config ? [{ kind: 'config' as const, body: config }] : []),
    ...commands.map((body) => ({ kind: 'operation' as const, body })),
  ]
}
