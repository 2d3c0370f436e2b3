// The states of jobs and of their units, and which request is allowed in which state. [contract 12.states]

export const jobStates = [
  'DRAFT',
  'SCHEDULED',
  'RUNNING',
  'PAUSED',
  'STOPPED',
  'ROLLING_BACK',
  'SUCCEEDED',
  'INCOMPLETE',
  'CANCELLED',
  'ROLLED_BACK',
] as const
export type JobState = (typeof jobStates)[number]

export const finalJobStates = ['SUCCEEDED', 'INCOMPLETE', 'CANCELLED', 'ROLLED_BACK'] as const satisfies JobState[]

export const unitStates = [
  'PENDING',
  'WAITING',
  'RUNNING',
  'SOAKING',
  'SUCCEEDED',
  'FAILED',
  'SKIPPED',
  'EXPIRED',
  'CANCELLED',
  'ROLLED_BACK',
  'KEPT',
] as const
export type UnitState = (typeof unitStates)[number]

/** A unit in one of these has not begun, or has not ended. */
export const openUnitStates = ['PENDING', 'WAITING', 'RUNNING', 'SOAKING'] as const satisfies UnitState[]

export const waitReasons = ['window', 'idle', 'connection', 'pace', 'other job'] as const
export type WaitReason = (typeof waitReasons)[number]

export const steps = ['start', 'pause', 'resume', 'cancel', 'rollBack', 'retry'] as const
export type JobStep = (typeof steps)[number]

/** The states in which a person may ask for a step. Everything else is FAILED_PRECONDITION. */
export const statesForStep: Readonly<Record<JobStep, readonly JobState[]>> = {
  start: ['DRAFT'],
  pause: ['RUNNING'],
  resume: ['PAUSED', 'STOPPED'],
  cancel: ['DRAFT', 'SCHEDULED', 'RUNNING', 'PAUSED', 'STOPPED'],
  rollBack: ['RUNNING', 'PAUSED', 'STOPPED', 'SUCCEEDED', 'INCOMPLETE', 'CANCELLED'],
  retry: ['STOPPED', 'INCOMPLETE'],
}

/** A rollback with `now` is also possible while another one waits for windows, idle rooms or the pace, and hurries it. */
export const statesForRollBackNow: readonly JobState[] = [...statesForStep.rollBack, 'ROLLING_BACK']
