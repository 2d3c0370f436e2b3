// Decides whether so many units failed that a job stops. [contract 12.states]

interface FailureLimit {
  /** More than this share of the units that began. */
  readonly percent: number
  /** And at least so many. */
  readonly atLeast: number
}

/** The counts since the job was last resumed or retried. */
interface FailureCounts {
  readonly begun: number
  readonly failed: number
}

export const isOverLimit = ({ begun, failed }: FailureCounts, { percent, atLeast }: FailureLimit): boolean =>
  failed >= atLeast && failed * 100 > percent * begun
