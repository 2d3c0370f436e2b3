// The functions that the MQTT side calls when devices connect and send. phases/devices.ts provides them, so no resource is imported here.
import type { DownKind, DownMessage, UpKind, UpMessage } from '../../../contract/device/protocol.ts'
import type { ConnectionEnd } from '../../../contract/fleet/connections.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { DeviceSensors } from '../device-sensors.ts'
import type { AttemptKind } from './limits/credential-attempts.ts'

/** The endpoint at the other end of a connection. */
export interface Device {
  readonly org: Org
  readonly id: string
  /** Identifies the endpoint in the tables of samples, where its UUID would take too much room. */
  readonly number: number
  readonly serial: string
  readonly model: string
  readonly sensors: DeviceSensors
  /** The result of `isAway` when the device was identified. Another connection can have started since. */
  readonly wasAway: boolean
}

/** The device of an endpoint that was unenrolled while it was not connected. */
export type UnenrolledDevice = Pick<Device, 'org' | 'id' | 'serial'>

/** One MQTT connection of a device. */
export interface DeviceConnection {
  readonly device: Device
  /** Time of its CONNECT in milliseconds. */
  readonly since: number
  /** In hexadecimal. */
  readonly credentialHash: string
  /** The node and the number that the endpoint's row has while this is its connection. Both are 0 until that is durable. */
  nodeId: number
  number: number
  /** A status came over this connection. Until then it is not known whether the device is in a call. */
  hasReportedStatus?: boolean
  /** The device has a list of devices that it manages. */
  isGateway?: boolean
}

/** A connection as the database names it. */
export type StoredConnection = Pick<DeviceConnection, 'number' | 'credentialHash'>

/** The values that name a connection in the database. */
export const connectionKey = ({ device, nodeId, number, credentialHash }: DeviceConnection) => ({
  id: device.id,
  node: nodeId,
  connection: number,
  hash: Buffer.from(credentialHash, 'hex'),
})

/**
 * Thrown by the handler of a message that was not stored, because the device has connected again elsewhere, was unenrolled, or has
 * another credential by now. The message is not acknowledged, and the connection is closed.
 */
export class ConnectionReplaced extends Error {
  override readonly message = 'the device has another connection or credential by now'
}

/** The durable presence of a connected device. */
export interface Presence {
  readonly nodeId: number
  /** Connections of an endpoint are numbered over all nodes, and a later one has a higher number. */
  readonly number: number
  /** False if no config and no command waits for the device: then none does before `ConnectedDevices.wake` is called for it. */
  readonly mayHavePending: boolean
}

/**
 * Resolves when the message is durable, with the messages that are sent to the device in return. Rejects with ConnectionReplaced if
 * the device must not speak over this connection any more.
 */
type Received<K extends UpKind> = (
  connection: DeviceConnection,
  message: UpMessage<K>,
) => Promise<readonly DownMessage[]>

/** Returns whether the database names this connection, with its credential, as the current one of its device. */
export function isNamed(connection: DeviceConnection, stored: ReadonlyMap<string, StoredConnection>): boolean {
  const { number, credentialHash } = stored.get(connection.device.id) ?? {}
  return number === connection.number && credentialHash === connection.credentialHash
}

export interface DeviceHandlers {
  /** Finds the device by its credential; undefined if the credential is dead. */
  identify(endpointId: string, credential: string): Promise<Device | undefined>
  /** Finds the endpoint whose credential this was until it was unenrolled. */
  findUnenrolled(endpointId: string, credential: string): Promise<UnenrolledDevice | undefined>
  /**
   * Counts a wrong credential, or a connection that another one of the same device has ended, with its address. Two devices that share
   * a credential replace each other's connections, so these addresses alternate.
   */
  attempted(kind: AttemptKind, endpointId: string | undefined, address: string): void
  /** Resolves when the presence is durable; undefined if the credential died since `identify`. */
  connected(connection: DeviceConnection): Promise<Presence | undefined>
  /** Resolves when it is durable that this connection has ended. */
  disconnected(connection: DeviceConnection, why: ConnectionEnd): Promise<void>
  /** Reads the connections to this node that the database names: all of them, or those of some endpoints. The key is the endpoint's id. */
  listOwn(endpointIds?: readonly string[]): Promise<ReadonlyMap<string, StoredConnection>>
  /**
   * Lists the config and the commands that wait for the device, of the kinds that it has subscribed to, and marks them as
   * sent. Called when it subscribes, and after `ConnectedDevices.wake`.
   */
  waiting(connection: DeviceConnection, listensTo: (kind: DownKind) => boolean): Promise<readonly DownMessage[]>
  readonly received: { readonly [K in UpKind]: Received<K> }
}
