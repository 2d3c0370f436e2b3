// The states of an MQTT session, and limits that are not in core/time-limits.ts.

export const maxConnectBytes = 4096
/** Long enough for a last packet to leave. */
export const shutDownDelayMs = 100

/** session.ts draws the transitions. */
export type SessionState =
  | { readonly name: 'connecting'; seconds: number; hasConnect: boolean }
  | { readonly name: 'connected'; readonly keepAliveSeconds: number; unreadSeconds: number }
  | { readonly name: 'closing'; seconds: number }
