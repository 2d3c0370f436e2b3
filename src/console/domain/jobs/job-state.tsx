// The states of jobs and of their rooms: label, tone and icon of each. [contract 12.states]
import type { ReactNode } from 'react'
import { type JobState, jobStates, type UnitState } from '../../../contract/jobs/job-states.ts'
import {
  CancelledIcon,
  ClockIcon,
  DotIcon,
  EditIcon,
  PauseIcon,
  SkippedIcon,
  UndoIcon,
} from '../../parts/page/icons.tsx'
import { StateBadge, type StateLook, type Tone } from '../../parts/text/status-label.tsx'

const look = (label: string, tone: Tone, Icon?: (props: { readonly size?: number }) => ReactNode): StateLook => ({
  label,
  tone,
  ...(Icon && { icon: <Icon size={16} /> }),
})

const jobLooks: Readonly<Record<JobState, StateLook>> = {
  DRAFT: look('Draft', 'quiet', EditIcon),
  SCHEDULED: look('Scheduled', 'quiet', ClockIcon),
  RUNNING: look('Running', 'busy'),
  PAUSED: look('Paused', 'warning', PauseIcon),
  STOPPED: look('Stopped', 'danger'),
  ROLLING_BACK: look('Rolling back', 'busy', UndoIcon),
  SUCCEEDED: look('Succeeded', 'calm'),
  INCOMPLETE: look('Incomplete', 'warning'),
  CANCELLED: look('Cancelled', 'quiet', CancelledIcon),
  ROLLED_BACK: look('Rolled back', 'quiet', UndoIcon),
}

const unitLooks: Readonly<Record<UnitState, StateLook>> = {
  PENDING: look('Not started', 'quiet', DotIcon),
  WAITING: look('Waiting', 'quiet', ClockIcon),
  RUNNING: look('Running', 'busy'),
  SOAKING: look('Monitoring', 'busy', ClockIcon),
  SUCCEEDED: look('Succeeded', 'calm'),
  FAILED: look('Failed', 'danger'),
  SKIPPED: look('Skipped', 'quiet', SkippedIcon),
  EXPIRED: look('Expired', 'danger', ClockIcon),
  CANCELLED: look('Cancelled', 'quiet', CancelledIcon),
  ROLLED_BACK: look('Rolled back', 'quiet', UndoIcon),
  KEPT: look('Not rolled back', 'warning'),
}

export const jobStateName = (state: JobState): string => jobLooks[state].label
export const unitStateName = (state: UnitState): string => unitLooks[state].label

export const jobStateChoices = jobStates.map((value) => ({ value, label: jobLooks[value].label }))

/** The order of the parts of a bar, from what is done to what has not started. */
export const unitStateOrder: readonly UnitState[] = [
  'SUCCEEDED',
  'ROLLED_BACK',
  'KEPT',
  'SKIPPED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
  'SOAKING',
  'RUNNING',
  'WAITING',
  'PENDING',
] satisfies readonly UnitState[]

export const JobStateLabel = ({ state }: { readonly state: JobState }) => <StateBadge look={jobLooks[state]} />
export const UnitStateLabel = ({ state }: { readonly state: UnitState }) => <StateBadge look={unitLooks[state]} />
