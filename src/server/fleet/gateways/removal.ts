// Changes the items of endpoints and rooms that are deleted, and of devices that enrol by themselves. [contract 13.rooms]
import type { Tx } from '../../db/handles.ts'
import { updateExcludedOfEndpoints } from '../sources/store.ts'
import {
  deleteSourceItemsInRoom,
  deleteSourceItemsOfEndpoints,
  raiseListVersions,
  updateItemsWithoutEndpoint,
  updateItemsWithoutRoom,
} from './store.ts'

/**
 * The items of unenrolled endpoints are REMOVED until a person retries them. A device of a source has no item any longer, and is excluded
 * until a person includes it. Returns the gateways to wake after the commit.
 */
export async function removeItemsOfEndpoints(tx: Tx, endpoints: readonly string[], at: number): Promise<string[]> {
  const reason = 'Its endpoint was unenrolled. Try again to enrol the device again.'
  await updateExcludedOfEndpoints(tx, { endpoints })
  const deleted = await deleteSourceItemsOfEndpoints(tx, { endpoints })
  return announce(tx, [
    ...deleted,
    ...(await updateItemsWithoutEndpoint(tx, { endpoints, state: 'REMOVED', reason, since: at })),
  ])
}

/** Does the same for the items in a room that is deleted. A device of a source can be adopted into another room. */
export async function removeItemsInRoom(tx: Tx, room: number, at: number): Promise<string[]> {
  const reason = 'Its room was deleted. Choose another room, then try again.'
  const deleted = await deleteSourceItemsInRoom(tx, { room })
  return announce(tx, [
    ...deleted,
    ...(await updateItemsWithoutRoom(tx, { room, state: 'REMOVED', reason, since: at })),
  ])
}

/** A device that enrols by itself is no longer seen through a gateway. */
export async function replaceItemsOfEndpoint(tx: Tx, endpoint: string, at: number): Promise<string[]> {
  const reason = 'The device has enrolled by itself. Unenrol it there, then try again.'
  const rows = await updateItemsWithoutEndpoint(tx, { endpoints: [endpoint], state: 'DUPLICATE', reason, since: at })
  return announce(tx, rows)
}

async function announce(tx: Tx, rows: readonly { readonly gateway_id: string }[]): Promise<string[]> {
  const gateways = [...new Set(rows.map((row) => row.gateway_id))]
  if (gateways.length > 0) await raiseListVersions(tx, { gateways })
  return gateways
}
