// Finds in the database what messages between nodes would have told this one, had they not been lost.
import type { Services } from '../context/services.ts'
import type { DeviceConnections } from '../devices/mqtt/device-connections.ts'
import { listEndpointsWithQueuedCommand } from '../fleet/commands/progress.ts'
import { listPending } from '../fleet/configs/reported.ts'
import type { Core } from './core.ts'

/** Sends the devices of this node what waits for them. */
export async function wakeWaiting(services: Services, connections: DeviceConnections): Promise<void> {
  connections.wake(await listEndpointsWithQueuedCommand(services))
  for (const { id, version } of await listPending(services)) connections.wakeForConfig(id, version)
}

/** After an interruption of the session for messages the tasks run immediately. */
export function reconcileAfterLoss({ services, log }: Core, connections: DeviceConnections): void {
  services.bus.lost(() => {
    Promise.all([connections.reconcile(), wakeWaiting(services, connections)]).catch((error) =>
      log.warn({ reason: error.message }, 'connections of devices not checked, trying again within a minute'),
    )
  })
}
