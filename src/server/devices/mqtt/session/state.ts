// The states of an MQTT session, and the limits of each.

export const maxConnectBytes = 4096
export const connectTimeoutSeconds = 10
export const unreadTimeoutSeconds = 20
/** The close of a WebSocket needs a reply of the other side, which may be gone. */
export const closeTimeoutSeconds = 2
/** Long enough for a last packet to leave. */
export const shutDownDelayMs = 100

/** session.ts draws the transitions. */
export type SessionState =
  | { readonly name: 'connecting'; seconds: number; hasConnect: boolean }
  | { readonly name: 'connected'; readonly keepAliveSeconds: number; unreadSeconds: number }
  | { readonly name: 'closing'; seconds: number }
