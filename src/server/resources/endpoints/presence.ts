// Identifies devices by their credential, and stores their connects, disconnects and status reports. [contract 5.1]

import { isCredential, tokenHash } from '../../auth/token.ts'
import type { Services } from '../../context/services.ts'
import type { Device, DeviceConnection, Presence } from '../../devices/mqtt/handlers.ts'
import {
  findByCredential,
  findStatus,
  updateConnected,
  updateDisconnected,
  updateDisconnectedFrom,
  updateStatus,
} from './device-store.ts'

/** Returns the device if the credential is that of the endpoint. A malformed credential costs no database query. */
export async function findDeviceByCredential(
  services: Services,
  endpointId: string,
  credential: string,
): Promise<Device | undefined> {
  if (!isCredential(credential)) return undefined
  const row = await findByCredential(services.db.system, { hash: tokenHash(credential) })
  if (!row || row.id !== endpointId) return undefined
  const { id, number, serial, model } = row
  return { org: { key: row.org_key, id: row.org_id }, id, number, serial, model }
}

export async function markConnected(
  services: Services,
  { device, since, credentialHash: hash }: DeviceConnection,
): Promise<Presence | undefined> {
  const { db, feed } = services
  const { org, id } = device
  const { id: node } = requireNode(services)
  const row = await db.forOrg(org.key).telemetry((on) => updateConnected(on, { id, hash, node, at: since }))
  if (!row) return undefined
  feed.forOrg(org.key).publish([{ type: 'connected', endpointId: id }])
  return { nodeId: node, number: row.connection, mayHavePending: Boolean(row.may_wait) }
}

/** Changes nothing if the device has connected again since, here or at another node. */
export async function markDisconnected(
  services: Services,
  { device: { org, id }, nodeId, number }: DeviceConnection,
): Promise<void> {
  const { db, clock, feed } = services
  const at = clock.now()
  const isChanged = await db.forOrg(org.key).telemetry((on) =>
    number > 0
      ? updateDisconnected(on, { id, node: nodeId, connection: number, at })
      : // Whether this connection was written is not known. No other one of this device is open here.
        updateDisconnectedFrom(on, { id, node: requireNode(services).id, at }),
  )
  if (isChanged) feed.forOrg(org.key).publish([{ type: 'disconnected', endpointId: id }])
}

/** Only a server has connections of devices, and every server has a row of its own. */
function requireNode({ node }: Services) {
  if (!node) throw new Error('a command has no connections of devices')
  return node
}

/** Changes only the fields that the report names; null removes a field. */
export async function storeStatus(
  { db, feed }: Services,
  { device }: DeviceConnection,
  report: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { pairingSerial, ...reported } = report
  const networks = reported.networks as ReportedNetwork[] | null | undefined
  const isChanged = await db.forOrg(device.org.key).telemetry(async (on) => {
    const before = await findStatus(on, { id: device.id })
    if (!before) return false
    const fields: Record<string, unknown> = {
      ...JSON.parse(before.status),
      ...reported,
      ...(networks && { networks: networks.map(completeNetwork) }),
    }
    const status = JSON.stringify(fields, (_, value) => (value === null ? undefined : value))
    // An empty serial names no leader, and must not group all devices that report one.
    const leader = pairingSerial === undefined ? before.pairing_serial : (pairingSerial as string | null) || null
    if (status === before.status && leader === before.pairing_serial) return false
    await updateStatus(on, { id: device.id, status, pairing_serial: leader })
    return true
  })
  if (isChanged) feed.forOrg(device.org.key).publish([{ type: 'status', endpointId: device.id }])
}

interface ReportedNetwork {
  readonly addresses?: readonly object[]
  readonly gateway?: readonly object[]
}

/** Clients rely on both lists, and on both addresses in each item. [contract 5.1.networks] */
const completeNetwork = (network: ReportedNetwork) => ({
  ...network,
  addresses: (network.addresses ?? []).map((item) => ({ address: {}, broadcast: {}, ...item })),
  gateway: network.gateway ?? [],
})
