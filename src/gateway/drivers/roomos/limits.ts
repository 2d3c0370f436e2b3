// The limits of a session with a codec; tests shorten the times.

export interface RoomosLimits {
  /** For the TLS connection, and then for the WebSocket handshake. */
  readonly connectMs: number
  /** From the connection to the session: a test answers within 20 s. */
  readonly openMs: number
  readonly answerMs: number
  /** A codec that sends neither a pong nor a message between two pings is gone. */
  readonly pingMs: number
  readonly sampleMs: number
  /** Between two readings of what the codec does not push, because it allows no more subscriptions. */
  readonly readAgainMs: number
  /** Changes that arrive within this time are reported together; the gateway itself sends at most one status a second. */
  readonly statusMs: number
  /** A codec runs its diagnostics again several times a minute, so a fault has ended only when it was absent for this long. */
  readonly faultHeldMs: number
}

export const roomosLimits: RoomosLimits = {
  connectMs: 5_000,
  openMs: 15_000,
  answerMs: 10_000,
  pingMs: 15_000,
  sampleMs: 60_000,
  readAgainMs: 60_000,
  statusMs: 200,
  faultHeldMs: 60_000,
}

/** The largest message; the whole network status of a codec has a few kilobytes. */
export const maxAnswerBytes = 256 * 1024
export const maxDepth = 24
export const maxMessageValues = 20_000
/** A codec that sends more than this in a window misbehaves. A frame counts with its header. */
export const rateWindow = { ms: 10_000, maxBytes: 4 * 1024 * 1024, frameBytes: 64 } as const
/** Questions that wait for an answer at the same time. */
export const maxQuestions = 4
