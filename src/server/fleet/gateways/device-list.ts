// The list that a gateway reads: its items and the tests that wait, with secrets in plain text. [contract 13.list]
import type { DownMessage, GatewayDeviceList } from '../../../contract/device/protocol.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import { isUuid } from '../../core/uuid.ts'
import type { Device, DeviceConnection } from '../../devices/mqtt/handlers.ts'
import { plainSource, sourceContext, sourceTargetOf } from '../sources/fields.ts'
import { listSourcesOfGateway } from '../sources/store.ts'
import { itemContext, plainItem, plainTests, targetOf } from './fields.ts'
import { findListVersion, listItemsAfter, listOpenTests } from './store.ts'

const itemsPerPage = 200

/** A page of the list. A list that changes between two pages has another version, which the gateway is told. */
export async function readDeviceList(
  services: Services,
  { org, id }: Device,
  pageToken: string | undefined,
): Promise<GatewayDeviceList> {
  const { db, secrets, clock, limits } = services
  const on = db.forOrg(org.key)
  if (pageToken !== undefined && !isUuid(pageToken)) {
    throw new Failure('INVALID_ARGUMENT', 'pageToken is not a nextPageToken of this list. Start again without it.')
  }
  const list = await findListVersion(on, { id })
  if (!list) throw new Failure('PERMISSION_DENIED', notAGateway)
  const rows = await listItemsAfter(on, { gateway: id, after: pageToken ?? '', limit: itemsPerPage + 1 })
  const since = clock.now() - limits.gatewayTestMs
  const isFirst = pageToken === undefined
  const tests = isFirst ? await listOpenTests(on, { gateway: id, since }) : []
  const sources = isFirst ? await listSourcesOfGateway(on, { gateway: id }) : []
  const page = rows.slice(0, itemsPerPage)
  const last = page.at(-1)
  return {
    version: list.version,
    devices: page.map((row) => ({
      id: row.id,
      revision: row.revision,
      targetRevision: row.target_revision,
      ...plainItem(targetOf(row, secrets, itemContext(org, row.id)), row),
      ...(row.room_name !== null && row.room_id !== null && { roomId: row.room_id }),
      ...(row.name !== null && { name: row.name }),
      state: row.state,
      ...(row.known_endpoint_id !== null && { endpointId: row.known_endpoint_id }),
    })),
    ...plainTests(tests, org, secrets),
    ...(sources.length > 0 && {
      sources: sources.map((row) => ({
        id: row.id,
        revision: row.revision,
        targetRevision: row.target_revision,
        state: row.state,
        deviceCount: Number(row.devices),
        hasStructure: row.has_structure === 1,
        ...plainSource(sourceTargetOf(row, secrets, sourceContext(org, row.id))),
      })),
    }),
    ...(rows.length > itemsPerPage && last && { nextPageToken: last.id }),
  }
}

const notAGateway =
  'This device has not reported that it supports being a gateway. Send supports ["gateway"] in its status.'

/** Tells a gateway the version of its list. */
export async function listVersionMessages(
  { db }: Services,
  { device, isGateway }: DeviceConnection,
): Promise<DownMessage[]> {
  const list = isGateway ? await findListVersion(db.forOrg(device.org.key), { id: device.id }) : undefined
  return list ? [{ kind: 'devices', body: { version: list.version } }] : []
}
