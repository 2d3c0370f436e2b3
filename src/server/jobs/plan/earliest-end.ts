// Computes the earliest time at which a job could end, if nothing waits for people, devices or rooms in use. [contract 12.plan]

import { minuteMs } from '../../../contract/durations.ts'

interface PlannedStage {
  /** When each place of the stage may next be changed, from a time on. */
  readonly nextChangeTimes: readonly ((fromMs: number) => number)[]
}

/** Each stage begins when the one before it has ended its soak, and ends with the place whose window begins last. */
export function earliestEnd(stages: readonly PlannedStage[], soakMinutes: number, startMs: number): number {
  let end = startMs
  for (const { nextChangeTimes } of stages) {
    if (nextChangeTimes.length === 0) continue
    end = Math.max(...nextChangeTimes.map((next) => next(end))) + soakMinutes * minuteMs
  }
  return end
}
