// The states of jobs and of their rooms: label, colour and icon of each. [contract 12.states]
import type { ReactNode } from 'react'
import { type JobState, jobStates, type UnitState } from '../../../contract/jobs/job-states.ts'
import { CheckIcon, ClockIcon, CrossIcon, DotIcon, RebootIcon, WarnIcon } from '../../parts/page/icons.tsx'
import { StatusLabel } from '../../parts/text/status-label.tsx'

interface StateStyle {
  readonly label: string
  readonly colour: string
  readonly icon: ReactNode
}

const working = 'var(--rk-running)'
const style = (label: string, colour: string, Icon: (props: { readonly size?: number }) => ReactNode): StateStyle => ({
  label,
  colour,
  icon: <Icon size={16} />,
})

const jobStyles: Readonly<Record<JobState, StateStyle>> = {
  DRAFT: style('Draft', 'var(--rk-empty)', DotIcon),
  SCHEDULED: style('Scheduled', 'var(--rk-empty)', ClockIcon),
  RUNNING: style('Running', working, RebootIcon),
  PAUSED: style('Paused', 'var(--rk-degraded)', ClockIcon),
  STOPPED: style('Stopped', 'var(--rk-offline)', WarnIcon),
  ROLLING_BACK: style('Rolling back', working, RebootIcon),
  SUCCEEDED: style('Succeeded', 'var(--rk-healthy)', CheckIcon),
  INCOMPLETE: style('Incomplete', 'var(--rk-degraded)', WarnIcon),
  CANCELLED: style('Cancelled', 'var(--rk-empty)', CrossIcon),
  ROLLED_BACK: style('Rolled back', 'var(--rk-empty)', CheckIcon),
}

const unitStyles: Readonly<Record<UnitState, StateStyle>> = {
  PENDING: style('Not started', 'var(--rk-empty)', DotIcon),
  WAITING: style('Waiting', 'var(--rk-degraded)', ClockIcon),
  RUNNING: style('Running', working, RebootIcon),
  SOAKING: style('Monitoring', working, ClockIcon),
  SUCCEEDED: style('Succeeded', 'var(--rk-healthy)', CheckIcon),
  FAILED: style('Failed', 'var(--rk-offline)', CrossIcon),
  SKIPPED: style('Skipped', 'var(--rk-empty)', DotIcon),
  EXPIRED: style('Expired', 'var(--rk-offline)', ClockIcon),
  CANCELLED: style('Cancelled', 'var(--rk-empty)', CrossIcon),
  ROLLED_BACK: style('Rolled back', 'var(--rk-empty)', CheckIcon),
  KEPT: style('Not rolled back', 'var(--rk-degraded)', WarnIcon),
}

export const jobStateName = (state: JobState): string => jobStyles[state].label
export const unitStateName = (state: UnitState): string => unitStyles[state].label
export const unitStateColour = (state: UnitState): string => unitStyles[state].colour

export const jobStateChoices = jobStates.map((value) => ({ value, label: jobStyles[value].label }))

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

export const JobStateLabel = ({ state }: { readonly state: JobState }) => <Label style={jobStyles[state]} />
export const UnitStateLabel = ({ state }: { readonly state: UnitState }) => <Label style={unitStyles[state]} />

const Label = ({ style: { colour, icon, label } }: { readonly style: StateStyle }) => (
  <StatusLabel colour={colour} icon={icon}>
    {label}
  </StatusLabel>
)
