// The deadline of a bulk action: a message that comes late is wrong, and so is a restart that the people in the room do not expect any more.

import { hourMs, minuteMs } from '../../../../contract/durations.ts'
import type { RebootTime } from '../../../../contract/fleet/commands.ts'
import type { JobActionType } from '../../../../contract/jobs/job-request.ts'
import type { Plan } from '../job.ts'

const deadlineMsOf: Partial<Record<JobActionType, number>> = { MESSAGE: 15 * minuteMs, REBOOT: hourMs }

interface PlanAnswer {
  readonly plan: Pick<Plan, 'earliestEnd'>
  /** The time at which the answer came, by the clock of the browser. */
  readonly readAt: number
}

/**
 * Counts from now by the clock of the service, which may differ from that of the browser: an action that waits for nothing could end at the
 * time of its plan. Returns undefined if the action has no deadline of its own.
 */
export function bulkDeadline(type: JobActionType, when: RebootTime, { plan, readAt }: PlanAnswer, now: number) {
  const ms = type === 'REBOOT' && when !== 'now' ? undefined : deadlineMsOf[type]
  if (ms === undefined) return undefined
  return new Date(Date.parse(plan.earliestEnd) + (now - readAt) + ms).toISOString()
}
