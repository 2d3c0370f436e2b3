// All times of the PJLink driver; tests use shorter ones.

export interface PjlinkTimings {
  /** A connection, its greeting, the challenge and the first answer take at most this long. */
  readonly attemptMs: number
  /** The specification asks for 2 s, "or as the model says". */
  readonly answerMs: number
  /** Old projectors do not answer the challenge of version 2.10. */
  readonly challenge256Ms: number
  /** The smallest pause between two commands that the option can set. */
  readonly minGapMs: number
  /** Unit of the option `pollSeconds`. */
  readonly pollUnitMs: number
  /** From the start of a failed attempt to the start of the next. Three attempts and a poll interval of 20 s end within 45 s. */
  readonly retryEveryMs: number
  /** Names, lamps, filters and lists of inputs are read again after this time. */
  readonly seldomMs: number
  /** A projector can be silent for this long after its power changed, and unreachable while it warms up. */
  readonly quietMs: number
  /** Between two checks whether the power has changed. */
  readonly followMs: number
  /** A change of power is given up after this time, before the operation's own deadline of 5 minutes. */
  readonly powerMs: number
  /** A projector that does not even tell its power for this long is in standby: no warm-up or cooling takes longer. */
  readonly longestChangeMs: number
  /** A projector that leaves the network this soon after it went to standby does so to save energy. */
  readonly leavesWithinMs: number
  /** A projector that is on again this soon after it was switched off did that by itself. */
  readonly onAgainWithinMs: number
}

export const usualPjlinkTimings: PjlinkTimings = {
  attemptMs: 6_000,
  answerMs: 4_000,
  challenge256Ms: 2_000,
  minGapMs: 200,
  pollUnitMs: 1_000,
  retryEveryMs: 7_000,
  seldomMs: 30 * 60_000,
  quietMs: 60_000,
  followMs: 5_000,
  powerMs: 4 * 60_000,
  longestChangeMs: 3 * 60_000,
  leavesWithinMs: 60 * 60_000,
  onAgainWithinMs: 60_000,
}
