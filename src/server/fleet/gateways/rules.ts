// The rules of gateways and their items, one function for each operation. [contract 13.gateways]
import { randomUUID } from 'node:crypto'
import { drivers } from '../../../contract/fleet/drivers.ts'
import { maxGatewayDevices } from '../../../contract/fleet/gateways.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { type AuditRef, auditRef } from '../../journal/audit/change-result.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { moveEndpoints, unenrolEndpoint } from '../endpoints/rules.ts'
import { releaseEndpoints } from '../endpoints/store.ts'
import { findRoom } from '../rooms/store.ts'
import { updateExcluded } from '../sources/store.ts'
import {
  auditedItem,
  changedItemSecrets,
  type GatewayItemRow,
  type ItemTarget,
  itemAnswer,
  itemContext,
  itemView,
  requestedTarget,
  type ShownItem,
  targetOf,
  targetRow,
} from './fields.ts'
import {
  countItemsByState,
  deleteItem,
  findGateway,
  findItem,
  insertItem,
  listAllItems,
  listGatewayItems,
  listGateways,
  raiseListVersions,
  updateItem,
} from './store.ts'
import { gatewayView, withSeenDuplicates } from './view.ts'

export const driversList = async () => ({ drivers: Object.values(drivers) })

export async function gatewaysList(ctx: RequestContext) {
  const gateways = await listGateways(ctx.db, ctx.presenceTimes)
  const counts = Map.groupBy(await countItemsByState(ctx.db), (row) => row.gateway_id)
  return { gateways: gateways.map((row) => gatewayView(row, counts.get(row.id) ?? [])) }
}

export async function gatewayDevicesList(ctx: RequestContext, id: string) {
  await requireGateway(ctx.db, id)
  const rows = await withSeenDuplicates(ctx.db, await listGatewayItems(ctx.db, { gateway: id }))
  return { devices: rows.map((row) => itemView(row, storedTarget(ctx, row))) }
}

export async function gatewayDevicesGet(ctx: RequestContext, id: string, deviceId: string) {
  return shown(ctx, ctx.db, id, deviceId)
}

export async function gatewayDevicesCreate(
  ctx: RequestContext,
  id: string,
  body: InputOf<'gatewayDevicesCreate'>['body'],
) {
  const answer = await change(ctx, 'gatewayDevicesCreate', async (tx) => {
    const gateway = await requireGateway(tx, id)
    const { roomId, name = null, ...wanted } = body
    const { target } = requestedTarget(wanted)
    await requireRoom(tx, roomId)
    if ((await listAllItems(tx, { gateway: id })).length >= maxGatewayDevices) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `a gateway has at most ${maxGatewayDevices} devices. Start another gateway for more.`,
      )
    }
    const now = ctx.clock.now()
    const row: GatewayItemRow = {
      ...newItem(ctx, id, target),
      room_id: roomId,
      name,
      state: 'NEW',
      reason: null,
      since: now,
      created_at: now,
    }
    await insertItem(tx, row)
    await raiseListVersions(tx, { gateways: [id] })
    return {
      result: await shown(ctx, tx, id, row.id),
      target: itemRef(row),
      after: auditedItem.all({ row, target }),
      affected: [endpointRef(gateway)],
    }
  })
  ctx.devices.wake([id])
  return answer
}

function newItem(ctx: RequestContext, gateway: string, target: ItemTarget) {
  const id = randomUUID()
  return {
    id,
    gateway_id: gateway,
    revision: 1,
    target_revision: 1,
    ...targetRow(target, ctx.secrets, itemContext(ctx.org, id)),
    endpoint_id: null,
    duplicate_of: null,
    reached_at: null,
    source_id: null,
    source_key: null,
  }
}

export async function gatewayDevicesUpdate(
  ctx: RequestContext,
  id: string,
  deviceId: string,
  body: InputOf<'gatewayDevicesUpdate'>['body'],
) {
  const { answer, changed } = await change(ctx, 'gatewayDevicesUpdate', async (tx) => {
    const gateway = await requireGateway(tx, id)
    const before = await requireItem(tx, id, deviceId)
    checkIfMatch(ctx, before.revision)
    const { roomId, name, ...wanted } = body
    const stored = storedTarget(ctx, before)
    if (Object.keys(wanted).length > 0) refuseSourceItem(before)
    const { target, hasMoved } =
      before.source_id === null ? requestedTarget(wanted, stored) : { target: stored, hasMoved: false }
    const isOtherTarget = JSON.stringify(target) !== JSON.stringify(stored)
    const isTriedAnew = isOtherTarget && before.state !== 'REMOVED'
    const room = roomId === undefined ? undefined : await requireRoom(tx, roomId)
    // After the enrolment another room moves the endpoint, and the item follows it.
    const isMoved = room !== undefined && before.known_endpoint_id !== null && before.room_id !== room.id
    const moved = isMoved
      ? await moveEndpoints(tx, ctx, { endpointIds: [before.known_endpoint_id as string], roomId: room.id })
      : undefined
    const place = { room_id: room?.id ?? before.room_id, name: name === undefined ? before.name : name }
    const hasOtherPlace = place.room_id !== before.room_id || place.name !== before.name
    const row: GatewayItemRow = {
      ...before,
      ...targetRow(target, ctx.secrets, itemContext(ctx.org, deviceId)),
      ...place,
      revision: before.revision + 1,
      ...((isOtherTarget || !hasOtherPlace) && { target_revision: before.revision + 1 }),
      ...(isTriedAnew && { state: 'NEW' as const, reason: null, duplicate_of: null, since: ctx.clock.now() }),
      ...(hasMoved && { reached_at: null }),
    }
    await updateItem(tx, row)
    await raiseListVersions(tx, { gateways: [id] })
    return {
      result: { answer: await shown(ctx, tx, id, deviceId), changed: moved?.result.changed ?? [] },
      target: itemRef(row),
      ...auditedItem.change(
        { row: before, target: stored },
        { row, target, changed: changedItemSecrets(stored, target) },
      ),
      affected: [endpointRef(gateway), ...(moved?.affected ?? [])],
    }
  })
  ctx.devices.wake([id, ...changed])
  return answer
}

export async function gatewayDevicesRetry(ctx: RequestContext, id: string, deviceId: string) {
  const answer = await change(ctx, 'gatewayDevicesRetry', async (tx) => {
    const gateway = await requireGateway(tx, id)
    const before = await requireItem(tx, id, deviceId)
    checkIfMatch(ctx, before.revision)
    if (before.room_name === null) {
      throw new Failure('FAILED_PRECONDITION', 'the room of this device was deleted. Choose another room first.')
    }
    const isRemoved = before.state === 'REMOVED'
    const row: GatewayItemRow = {
      ...before,
      revision: before.revision + 1,
      target_revision: before.revision + 1,
      ...(isRemoved && { state: 'NEW' as const, reason: null, since: ctx.clock.now() }),
    }
    await updateItem(tx, row)
    await raiseListVersions(tx, { gateways: [id] })
    return {
      result: await shown(ctx, tx, id, deviceId),
      target: itemRef(row),
      after: { roomId: row.room_id },
      affected: [endpointRef(gateway)],
    }
  })
  ctx.devices.wake([id])
  return answer
}

/** The gateway loses the device in both cases: its credential stops working. */
export async function gatewayDevicesDelete(ctx: RequestContext, id: string, deviceId: string, isUnenrolled = false) {
  const endpointId = await change(ctx, 'gatewayDevicesDelete', async (tx) => {
    const gateway = await requireGateway(tx, id)
    const row = await requireItem(tx, id, deviceId)
    checkIfMatch(ctx, row.revision)
    const endpoint = row.known_endpoint_id
    if (row.source_id !== null && row.source_key !== null) {
      await updateExcluded(tx, { source: row.source_id, keys: [row.source_key], excluded: 1 })
    }
    await deleteItem(tx, { id: deviceId })
    await raiseListVersions(tx, { gateways: [id] })
    const unenrolled = endpoint !== null && isUnenrolled ? await unenrolEndpoint(tx, ctx, endpoint) : undefined
    if (endpoint !== null && !isUnenrolled) await releaseEndpoints(tx, [endpoint])
    return {
      result: endpoint,
      target: itemRef(row),
      before: auditedItem.all({ row, target: storedTarget(ctx, row) }),
      affected: [endpointRef(gateway), ...(unenrolled ? [endpointRef(unenrolled)] : [])],
    }
  })
  if (endpointId !== null) ctx.devices.cut([endpointId], isUnenrolled ? 'unenrolled' : 'released')
  ctx.devices.wake([id])
  return {}
}

export const requireGateway = async (on: OrgReader, id: string) =>
  mustFind(await findGateway(on, { id }), `gateway ${id}`)

export const requireItem = async (on: OrgReader, gateway: string, id: string) =>
  mustFind(await findItem(on, { gateway, id }), `device ${id} of gateway ${gateway}`)

/** The address and the secrets of such an item are those of its source. */
export function refuseSourceItem({ source_id }: Pick<GatewayItemRow, 'source_id'>): void {
  if (source_id === null) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `this device belongs to source ${source_id}, which has its address and its secrets. Change the source with sourcesUpdate, and test it with sourcesTest.`,
  )
}

async function requireRoom(tx: Tx, id: number) {
  const room = await findRoom(tx, { id })
  if (!room) throw new Failure('FAILED_PRECONDITION', `there is no room ${id}. Create it first, or name another.`)
  return room
}

export const storedTarget = (ctx: RequestContext, row: ShownItem): ItemTarget =>
  targetOf(row, ctx.secrets, itemContext(ctx.org, row.id))

async function shown(ctx: RequestContext, on: OrgReader, gateway: string, id: string) {
  await requireGateway(on, gateway)
  const row = await requireItem(on, gateway, id)
  const [seen = row] = await withSeenDuplicates(on, [row])
  return itemAnswer(seen, storedTarget(ctx, seen))
}

const itemRef = (row: Pick<GatewayItemRow, 'id' | 'name' | 'host'>): AuditRef =>
  auditRef('gatewayDevice', { id: row.id, name: row.name ?? row.host })
