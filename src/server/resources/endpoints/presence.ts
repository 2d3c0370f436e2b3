// What a device does by being there: it is known by its credential, comes, goes, and says how it is. [contract 5.1]

import { isCredential, tokenHash } from '../../auth/token.ts'
import type { Services } from '../../context/services.ts'
import type { Device, DeviceConnection, Presence } from '../../devices/mqtt/handlers.ts'
import {
  findByCredential,
  findStatus,
  updateAllDisconnected,
  updateConnected,
  updateDisconnected,
  updateStatus,
} from './device-store.ts'

/** The device, if it is who it says it is. A credential that cannot be one costs no database read. */
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
  { db, feed }: Services,
  { device, since, credential }: DeviceConnection,
): Promise<Presence | undefined> {
  const { org, id } = device
  const row = await db
    .forOrg(org.key)
    .telemetry((on) => updateConnected(on, { id, hash: tokenHash(credential), at: since }))
  if (!row) return undefined
  feed.forOrg(org.key).publish([{ type: 'connected', endpointId: id }])
  return { mayHavePending: Boolean(row.may_wait) }
}

export async function markDisconnected(
  { db, clock, feed }: Services,
  { device: { org, id } }: DeviceConnection,
): Promise<void> {
  const isKnown = await db.forOrg(org.key).telemetry((on) => updateDisconnected(on, { id, at: clock.now() }))
  if (isKnown) feed.forOrg(org.key).publish([{ type: 'disconnected', endpointId: id }])
}

/** After a start nobody is connected, whatever a crash left behind. */
export async function markAllDisconnected({ db, clock }: Services): Promise<void> {
  await db.systemTransaction((on) => updateAllDisconnected(on, { at: clock.now() }))
}

/** Only what it names changes; null takes something back. */
export async function storeStatus(
  { db, feed }: Services,
  { device }: DeviceConnection,
  report: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { pairingSerial, ...said } = report
  const networks = said.networks as ReportedNetwork[] | null | undefined
  const isNew = await db.forOrg(device.org.key).telemetry(async (on) => {
    const before = await findStatus(on, { id: device.id })
    if (!before) return false
    const fields: Record<string, unknown> = {
      ...JSON.parse(before.status),
      ...said,
      ...(networks && { networks: networks.map(complete) }),
    }
    const status = JSON.stringify(fields, (_, value) => (value === null ? undefined : value))
    // An empty serial is nobody's: it must not make a group of all who say so.
    const leader = pairingSerial === undefined ? before.pairing_serial : (pairingSerial as string | null) || null
    if (status === before.status && leader === before.pairing_serial) return false
    await updateStatus(on, { id: device.id, status, pairing_serial: leader })
    return true
  })
  if (isNew) feed.forOrg(device.org.key).publish([{ type: 'status', endpointId: device.id }])
}

interface ReportedNetwork {
  readonly addresses?: readonly object[]
  readonly gateway?: readonly object[]
}

/** Clients count on the lists, and on both addresses in each item. [contract 5.1.networks] */
const complete = (network: ReportedNetwork) => ({
  ...network,
  addresses: (network.addresses ?? []).map((item) => ({ address: {}, broadcast: {}, ...item })),
  gateway: network.gateway ?? [],
})
