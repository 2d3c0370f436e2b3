// What rules know of connected devices: whether they are there, that something waits for them, that they must go.
export interface ConnectedDevices {
  isConnected(endpointId: string): boolean
  /** Something new waits for these. Call it after the commit; those that are connected get it at once. */
  wake(endpointIds: Iterable<string>): void
  /**
   * Their credentials are dead. Call it after the commit; their connections end at once. Those that were unenrolled are
   * told so; a replaced credential belongs to a device that has enrolled again.
   */
  cut(endpointIds: Iterable<string>, why?: 'unenrolled' | 'replaced'): void
}

/** For commands that work beside a server: it finds what they wrote by itself. */
export const noConnectedDevices: ConnectedDevices = { isConnected: () => false, wake() {}, cut() {} }
