// Defines what rules can do with connected devices: query, wake and disconnect them.
export interface ConnectedDevices {
  isConnected(endpointId: string): boolean
  /** Sends pending configs and commands to those of the devices that are connected. Must be called after the commit. */
  wake(endpointIds: Iterable<string>): void
  /**
   * Disconnects devices whose credentials were revoked. Must be called after the commit. Devices that were unenrolled are
   * told so; a credential is replaced when its device has enrolled again.
   */
  cut(endpointIds: Iterable<string>, why?: 'unenrolled' | 'replaced'): void
}

/** For commands that run beside a server, which finds in the database what they wrote. */
export const noConnectedDevices: ConnectedDevices = { isConnected: () => false, wake() {}, cut() {} }
