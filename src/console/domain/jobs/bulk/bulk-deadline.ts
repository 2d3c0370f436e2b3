// The deadline of a bulk action, which the table of actions has.

import type { RebootTime } from '../../../../contract/fleet/commands.ts'
import { type JobActionType, jobActions } from '../../../../contract/jobs/action-table.ts'
import type { Plan } from '../job.ts'

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
  const { isDeferred, selection } = jobActions[type]
  const ms = selection?.deadlineMs
  if (ms === undefined || (isDeferred && when !== 'now')) return undefined
  return new Date(Date.parse(plan.earliestEnd) + (now - readAt) + ms).toISOString()
}
