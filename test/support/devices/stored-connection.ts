// The connection of a device as the database knows it, for tests that call the handlers of devices directly.
import { tokenHash } from '../../../src/server/auth/token.ts'
import type { Services } from '../../../src/server/context/services.ts'
import type { Device, DeviceConnection } from '../../../src/server/devices/mqtt/handlers.ts'
import { findDeviceByCredential } from '../../../src/server/fleet/endpoints/presence.ts'

export async function storedConnection(
  services: Services,
  endpointId: string,
  credential: string,
): Promise<DeviceConnection> {
  const device = (await findDeviceByCredential(services, endpointId, credential)) as Device
  const { node_id, connection } = await services.db.system.kysely
    .selectFrom('endpoints')
    .select(['node_id', 'connection'])
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  return {
    device,
    since: 0,
    credentialHash: tokenHash(credential).toString('hex'),
    nodeId: node_id ?? 0,
    number: connection,
  }
}
