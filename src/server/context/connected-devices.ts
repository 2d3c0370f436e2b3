// Lets rules reach devices at whatever node they are connected to: at this one immediately, at others by a message.
import type { MessageBus } from '../bus/message-bus.ts'

/**
 * Why a connection is closed: unenrolled devices are told so; a replaced credential belongs to a device that has enrolled again; a
 * released device was removed from its gateway.
 */
export type DisconnectReason = 'unenrolled' | 'replaced' | 'released'

export interface ConnectedDevices {
  /** Tells that a config or command is pending. Call it after the commit; connected devices get it immediately. */
  wake(endpointIds: Iterable<string>): void
  /** Closes the connections of devices whose credentials are no longer valid. Call it after the commit. */
  cut(endpointIds: Iterable<string>, why?: DisconnectReason): void
}

/** The devices that are connected to this process. */
export interface LocalDevices extends ConnectedDevices {
  /** Closes those connections of these endpoints that the database does not name, or whose credential was replaced. */
  recheck(endpointIds: readonly string[], why: 'replaced' | 'released'): void
  /** Closes one connection, because the device has connected to another node. */
  endReplaced(endpointId: string, connection: { readonly nodeId: number; readonly number: number }): void
}

/**
 * Passes everything on to the connections of this process once they exist, and to all other nodes. A command has no connections:
 * its messages reach the devices of every node.
 */
export class DeviceMailbox implements ConnectedDevices {
  readonly #bus: MessageBus
  #devices: LocalDevices | undefined

  constructor(bus: MessageBus) {
    this.#bus = bus
  }

  attach(devices: LocalDevices): void {
    this.#devices = devices
    this.#bus.heard('wake', ({ endpointIds }, { isSelf }) => {
      if (!isSelf) devices.wake(endpointIds)
    })
    this.#bus.heard('disconnect', ({ endpointIds, why, isReleased }, { isSelf }) => {
      if (isSelf) return
      // An endpoint that enrolled again may be connected with its new credential by now, and that connection stays.
      if (why === 'replaced') devices.recheck(endpointIds, isReleased ? 'released' : 'replaced')
      else devices.cut(endpointIds, why)
    })
    this.#bus.heard('takenOver', ({ endpointId, nodeId, connection }) =>
      devices.endReplaced(endpointId, { nodeId, number: connection }),
    )
  }

  wake(ids: Iterable<string>): void {
    const endpointIds = [...ids]
    if (endpointIds.length === 0) return
    this.#devices?.wake(endpointIds)
    this.#bus.send('wake', { endpointIds })
  }

  cut(ids: Iterable<string>, why: DisconnectReason = 'unenrolled'): void {
    const endpointIds = [...ids]
    if (endpointIds.length === 0) return
    this.#devices?.cut(endpointIds, why)
    const isReleased = why === 'released'
    this.#bus.send('disconnect', { endpointIds, ...(isReleased ? { why: 'replaced', isReleased } : { why }) })
  }
}
