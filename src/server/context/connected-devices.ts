// Lets rules reach connected devices, and stands in for them before the MQTT side has started.
export interface ConnectedDevices {
  isConnected(endpointId: string): boolean
  /** Tells that a config or command is pending. Call it after the commit; connected devices get it immediately. */
  wake(endpointIds: Iterable<string>): void
  /**
   * Closes the connections of devices whose credentials are no longer valid. Call it after the commit. Unenrolled devices are told
   * so; a replaced credential belongs to a device that has enrolled again.
   */
  cut(endpointIds: Iterable<string>, why?: 'unenrolled' | 'replaced'): void
}

/** For commands that run beside a server: the server finds their changes by itself. */
export const noConnectedDevices: ConnectedDevices = { isConnected: () => false, wake() {}, cut() {} }

/** Passes everything on to the connections once they exist: rules are built before the MQTT side, which calls rules. */
export class DeviceMailbox implements ConnectedDevices {
  #devices: ConnectedDevices = noConnectedDevices

  attach(devices: ConnectedDevices): void {
    this.#devices = devices
  }

  isConnected(endpointId: string): boolean {
    return this.#devices.isConnected(endpointId)
  }

  wake(endpointIds: Iterable<string>): void {
    this.#devices.wake(endpointIds)
  }

  cut(endpointIds: Iterable<string>, why?: 'unenrolled' | 'replaced'): void {
    this.#devices.cut(endpointIds, why)
  }
}
