// Fills the wizard with a job that is run again, or with a recurring job that is edited.
import { emptyAction } from '../../../domain/jobs/action/action-forms.ts'
import type { JobDetails, JobDraft } from '../../../domain/jobs/job.ts'
import type { RecurringJob } from '../../../domain/jobs/recurring-job.ts'
import { emptyTarget, emptyWizard, type StageInput, type WizardState } from './wizard-state.ts'

/** Times are not copied, and passwords are not read. */
export function wizardOfJob(job: JobDetails): WizardState {
  const { stages, failures, soakMinutes, onFailure, includeNew = false } = job
  const [last, ...earlier] = [...(stages ?? [])].reverse()
  return {
    ...commonOf(job),
    isStaged: stages !== undefined,
    ...(last && { stages: earlier.reverse().map(stageInput), isLastManual: last.manual ?? false }),
    ...(stages && {
      ...(soakMinutes !== undefined && { soakMinutes }),
      ...(failures?.percent !== undefined && { failurePercent: failures.percent }),
      ...(failures?.atLeast !== undefined && { failureCount: failures.atLeast }),
      onFailure,
    }),
    includeNew,
  }
}

export const wizardOfRecurringJob = (job: RecurringJob): WizardState => ({
  ...commonOf(job),
  isRecurring: true,
  schedule: job.schedule,
  withinHours: job.withinHours,
})

type Common = Pick<JobDraft, 'name' | 'target' | 'action' | 'respect' | 'pace' | 'skipConflicts'>

function commonOf({ name, target, action, respect, pace, skipConflicts = false }: Common): WizardState {
  const { all, exclude, ...chosen } = target
  const { config, ...input } = action
  return {
    ...emptyWizard,
    ...emptyAction,
    ...input,
    ...(config && { config: knownValues(config) }),
    name,
    isForAll: all === true,
    target: { ...emptyTarget, ...chosen },
    exclude: { ...emptyTarget, ...exclude },
    window: respect?.window,
    idle: respect?.idle,
    ...(pace?.atOnce !== undefined && { atOnce: pace.atOnce }),
    atOncePerLocation: pace?.atOncePerLocation,
    skipConflicts,
  }
}

/** The form of the settings sets values, and clears none. */
const knownValues = (config: NonNullable<JobDraft['action']['config']>): WizardState['config'] =>
  Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => (value === null || value === undefined ? [] : [[key, value]])),
  )

const stageInput = ({
  rooms,
  percent,
  tags = [],
  manual = false,
}: NonNullable<JobDraft['stages']>[number]): StageInput =>
  rooms !== undefined
    ? { kind: 'rooms', amount: rooms, tags: [], manual }
    : percent !== undefined
      ? { kind: 'percent', amount: percent, tags: [], manual }
      : { kind: 'tags', amount: 0, tags, manual }
