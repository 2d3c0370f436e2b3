// Stores the states of items: those that gateways report, and those that the service decides when a device enrols. [contract 13.states]
import type { DevicesReport } from '../../../contract/device/protocol.ts'
import type { GatewayDeviceState } from '../../../contract/fleet/gateways.ts'
import type { Services } from '../../context/services.ts'
import { ConnectionReplaced, connectionKey, type Device, type DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { lockConnection } from '../endpoints/store.ts'
import { updateReportedState } from './store.ts'

interface NewState {
  readonly id: string
  readonly revision: number
  readonly state: GatewayDeviceState
  readonly reason: string
  readonly duplicateOf: string | null
}

/** Changes nothing if a person has changed the item since. */
export async function storeItemState(services: Services, gateway: Device, state: NewState): Promise<void> {
  const { db, clock } = services
  const since = clock.now()
  const isChanged = await db
    .forOrg(gateway.org.key)
    .telemetry(async (on) => updateReportedState(on, { gateway: gateway.id, ...state, since }))
  if (isChanged) publish(services, gateway)
}

/** The service decides DUPLICATE by itself, so a report of it changes nothing. Unknown items are ignored: a person has removed them. */
export async function storeReportedStates(
  services: Services,
  connection: DeviceConnection,
  { devices }: DevicesReport,
): Promise<void> {
  const { device: gateway } = connection
  const since = services.clock.now()
  const outcome = await services.db.forOrg(gateway.org.key).telemetry(async (on) => {
    if (!(await lockConnection(on, connectionKey(connection)))) return 'replaced'
    let changed = 0
    for (const { id, revision, state, reason = null } of devices) {
      if (state === 'DUPLICATE') continue
      const values = { gateway: gateway.id, id, revision, state, reason, since, duplicateOf: null }
      if (await updateReportedState(on, values)) changed++
    }
    return changed
  })
  if (outcome === 'replaced') throw new ConnectionReplaced()
  if (outcome > 0) publish(services, gateway)
}

/** Readers of events learn that the list of the gateway differs. */
const publish = ({ feed }: Services, { org, id }: Device) =>
  feed.forOrg(org.key).publish([{ type: 'status', endpointId: id }])
