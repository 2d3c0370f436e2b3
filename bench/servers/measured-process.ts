// A process, or several, whose CPU a bench measures from outside.

export interface MeasuredProcess {
  /** CPU time since the start. */
  cpuSeconds(): number
  stop(): Promise<void>
}
