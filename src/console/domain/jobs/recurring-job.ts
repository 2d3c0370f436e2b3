// A recurring job as the API returns it, its schedule in words, and the usual ones. [contract 12.recurring]
import type { CallInput } from '../../../client/client.ts'
import type { JobActionType } from '../../../contract/jobs/action-table.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { type Weekday, weekdays } from '../../../contract/weekly-hours.ts'
import { daysText } from '../../parts/text/weekdays.ts'

export type RecurringJob = ResponseOf<Operations['recurringJobsGet']>
/** The body of recurringJobsCreate and recurringJobsUpdate. */
export type RecurringDraft = CallInput<'recurringJobsCreate'>['body']
export interface Schedule {
  readonly days: readonly Weekday[]
  readonly at: string
}

/** "Every day at 03:00". */
export const scheduleText = ({ days, at }: Schedule): string => `${daysText(days)} at ${at}`

export interface UsualJob {
  readonly name: string
  readonly type: JobActionType
  readonly on: boolean | undefined
  readonly schedule: Schedule
}

export const usualJobs: readonly UsualJob[] = [
  { name: 'Restart every night', type: 'REBOOT', on: undefined, schedule: { days: weekdays, at: '03:00' } },
  {
    name: 'Displays off on weekday evenings',
    type: 'POWER',
    on: false,
    schedule: { days: ['mon', 'tue', 'wed', 'thu', 'fri'], at: '20:00' },
  },
]
