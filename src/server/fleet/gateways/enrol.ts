// Enrols devices through their gateway: room and gateway come from the item, the serial number from the device. [contract 13.enrolment]
import type { GatewayEnrolRequest } from '../../../contract/device/protocol.ts'
import { isSourceType } from '../../../contract/fleet/drivers.ts'
import { unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { Tx } from '../../db/handles.ts'
import { SystemReader } from '../../db/system.ts'
import type { Device } from '../../devices/mqtt/handlers.ts'
import { change } from '../../journal/audit/change.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { findBySerial } from '../endpoints/device-store.ts'
import { type DeviceOrigin, type EnrolmentResult, enrolEndpoint } from '../endpoints/enrol.ts'
import { findRoom } from '../rooms/store.ts'
import { isReadOnlySource } from '../sources/rules.ts'
import { isSameDevice, serialOf } from './serials.ts'
import { storeItemState } from './states.ts'
import { findOwnItem, updateItemEndpoint } from './store.ts'

/** The item has a state that keeps its device from enrolling. */
class ItemRefused extends Failure {
  readonly state: 'DUPLICATE' | 'CHANGED'
  readonly revision: number
  readonly duplicateOf: string | null

  constructor(
    state: 'DUPLICATE' | 'CHANGED',
    sentence: string,
    { revision, duplicateOf = null }: { revision: number; duplicateOf?: string | null },
  ) {
    super('ABORTED', sentence)
    this.state = state
    this.revision = revision
    this.duplicateOf = duplicateOf
  }
}

/** Enrols the device of an item. A refusal is the state of the item. */
export async function enrolItem(
  services: Services,
  gateway: Device,
  itemId: string,
  request: GatewayEnrolRequest,
  origin: DeviceOrigin,
): Promise<EnrolmentResult> {
  const actor = { type: 'DEVICE', id: gateway.serial, name: gateway.serial } as const
  const ctx = unrestrictedContext(services, gateway.org, actor, origin)
  try {
    const enrolled = await change(ctx, 'deviceEnrolled', async (tx) => {
      const item = mustFind(
        await findOwnItem(tx, { gateway: gateway.id, id: itemId }),
        `device ${itemId} of this gateway`,
      )
      const room = item.room_id === null ? undefined : await findRoom(tx, { id: item.room_id })
      if (item.state === 'REMOVED' || !room) {
        throw new Failure('ABORTED', 'This device was removed. A person has to try it again first.')
      }
      const serial = item.endpoint_serial ?? serialOf(request, gateway.org, item.id)
      const known = await findEnrolled(tx, gateway, item, serial, request)
      const { model } = request
      const { name, source_id, driver } = item
      const source =
        source_id !== null && isSourceType(driver)
          ? { id: source_id, type: driver, isReadOnly: await isReadOnlySource(tx, source_id) }
          : null
      const change = await enrolEndpoint(tx, ctx, { serial, model, room, known, via: gateway.id, source, name })
      await updateItemEndpoint(tx, { id: item.id, endpoint: change.result.endpointId })
      await raiseResourceVersions(tx, { endpointsOfRoom: [room.id, known?.room_id] })
      return change
    })
    // A box that this one replaces is connected with the old credential.
    services.devices.cut([enrolled.endpointId], 'replaced')
    return enrolled
  } catch (error) {
    if (error instanceof ItemRefused) {
      const { state, message: reason, revision, duplicateOf } = error
      await storeItemState(services, gateway, { id: itemId, revision, state, reason, duplicateOf })
    }
    throw error
  }
}

type Item = NonNullable<Awaited<ReturnType<typeof findOwnItem>>>

/** Finds the endpoint of this item. A gateway enrols serials that are new, or that it enrolled for this item; any other device is not its own. */
async function findEnrolled(tx: Tx, gateway: Device, item: Item, serial: string, request: GatewayEnrolRequest) {
  const { revision } = item
  const known = await findBySerial(SystemReader.within(tx), { serial })
  if (item.endpoint_serial !== null && !isSameDevice(item.endpoint_serial, request)) {
    throw new ItemRefused(
      'CHANGED',
      `The device has another serial number than ${item.endpoint_serial}, which enrolled here. Unenrol that endpoint, then try again.`,
      { revision },
    )
  }
  if (known && known.id !== item.known_endpoint_id) {
    throw new ItemRefused(
      'DUPLICATE',
      `Device ${serial} is enrolled already, directly or for another item. Unenrol it there, then try again.`,
      { revision, duplicateOf: known.org === gateway.org.key ? known.id : null },
    )
  }
  return known
}
