// A stacked bar of the rooms of a job or of one of its stages, by their states.
import type { UnitState } from '../../../contract/jobs/job-states.ts'
import type { ListedJob } from './job.ts'
import { unitStateName, unitStateOrder } from './job-state.tsx'
import classes from './progress-bar.module.css'

type Counts = ListedJob['counts']

/** States without rooms are left out. */
export const shownStates = (counts: Counts): readonly { readonly state: UnitState; readonly count: number }[] =>
  unitStateOrder.map((state) => ({ state, count: counts[state] ?? 0 })).filter(({ count }) => count > 0)

/** "3 succeeded, 1 waiting": the bar in words. */
export const countsText = (counts: Counts): string =>
  shownStates(counts)
    .map(({ state, count }) => `${count.toLocaleString('en-GB')} ${unitStateName(state).toLowerCase()}`)
    .join(', ')

/** Each part is wide enough to see, however few rooms it stands for. */
export const ProgressBar = ({ counts }: { readonly counts: Counts }) => (
  <span className={classes.bar} role="img" aria-label={countsText(counts) || 'No rooms'}>
    {shownStates(counts).map(({ state, count }) => (
      <span
        key={state}
        className={classes.part}
        data-state={state}
        style={{ flexGrow: count }}
        title={`${count.toLocaleString('en-GB')} ${unitStateName(state).toLowerCase()}`}
      />
    ))}
  </span>
)
