// Decides whether so many units failed that a job stops. [contract 12.states]

interface FailureLimit {
  /** The job stops if more than this percentage of the units that began has failed. */
  readonly percent: number
  /** The job stops only if at least this number of units has failed. */
  readonly atLeast: number
}

/** The counts since the job was last resumed or retried. */
interface FailureCounts {
  readonly begun: number
  readonly failed: number
}

export const isOverLimit = ({ begun, failed }: FailureCounts, { percent, atLeast }: FailureLimit): boolean =>
  failed >= atLeast && failed * 100 > percent * begun
