// Makes the answer about a gateway, and hides endpoints that items duplicate from callers who do not see them.
import type { GatewayDeviceState } from '../../../contract/fleet/gateways.ts'
import { isoTime } from '../../core/clock.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { ReportedStatus } from '../endpoints/reported-status.ts'
import { listEndpointsById } from '../endpoints/store.ts'
import type { GatewayRow } from './store.ts'

interface ItemCount {
  readonly state: GatewayDeviceState
  readonly items: number
}

export function gatewayView(row: GatewayRow, counts: readonly ItemCount[]) {
  const { firmwareVersion, reach = [] }: ReportedStatus = JSON.parse(row.status)
  return {
    id: row.id,
    ...(row.name !== null && { name: row.name }),
    serial: row.serial,
    ...(row.room_id !== null && { roomId: row.room_id }),
    ...(row.room_name !== null && { roomName: row.room_name }),
    ...(row.location_id !== null && { locationId: row.location_id }),
    ...(row.location_name !== null && { locationName: row.location_name }),
    ...(firmwareVersion !== undefined && { version: firmwareVersion }),
    state: row.state,
    ...(row.since !== null && { since: isoTime(row.since) }),
    devices: Object.fromEntries(counts.map(({ state, items }) => [state, Number(items)])),
    reach,
  }
}

/** Returns the rows without the endpoints that the caller does not see. */
export async function withSeenDuplicates<R extends { readonly duplicate_of: string | null }>(
  on: OrgReader,
  rows: readonly R[],
): Promise<readonly R[]> {
  const ids = [...new Set(rows.flatMap((row) => row.duplicate_of ?? []))]
  if (ids.length === 0) return rows
  const seen = new Set((await listEndpointsById(on, { ids })).map(({ id }) => id))
  return rows.map((row) =>
    row.duplicate_of === null || seen.has(row.duplicate_of) ? row : { ...row, duplicate_of: null },
  )
}
