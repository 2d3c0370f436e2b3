// Defines the columns of the list of jobs.
import { Link } from '@tanstack/react-router'
import type { ListedJob, PlannedAction } from '../../domain/jobs/job.ts'
import { JobStateLabel, jobStateName } from '../../domain/jobs/job-state.tsx'
import { countsText, ProgressBar } from '../../domain/jobs/progress-bar.tsx'
import { type Column, idColumn } from '../../parts/table/column.ts'
import { shortTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './jobs.module.css'

export function jobColumns(textOf: (action: PlannedAction) => string): Column<ListedJob>[] {
  return [
    {
      id: 'name',
      title: 'Job',
      width: 'minmax(180px, 2fr)',
      text: ({ name }) => name,
      cell: (job) => (
        <>
          <NameLink job={job} />
          <div className={classes.dimmed} title={textOf(job.action)}>
            {textOf(job.action)}
          </div>
        </>
      ),
    },
    idColumn(({ id }) => id),
    {
      id: 'state',
      title: 'State',
      width: 'minmax(120px, 1fr)',
      text: ({ state }) => jobStateName(state),
      cell: (job) => (
        <>
          <JobStateLabel state={job.state} />
          <div className={classes.dimmed} title={job.reason}>
            {job.reason ?? stageText(job)}
          </div>
        </>
      ),
    },
    {
      id: 'progress',
      title: 'Rooms',
      width: 'minmax(160px, 1.5fr)',
      text: ({ counts, unitCount }) => countsText(counts) || plural(unitCount, 'room'),
      cell: (job) => <Progress job={job} />,
    },
    {
      id: 'start',
      title: 'Started by',
      width: 'minmax(110px, 1fr)',
      text: ({ startedBy, startedAt, createdAt }) => `${startedBy.name}, ${startedAt ?? createdAt}`,
      cell: ({ startedBy, startedAt, createdAt }) => (
        <>
          <div>{startedBy.name}</div>
          <div className={classes.dimmed}>{shortTime(Date.parse(startedAt ?? createdAt))}</div>
        </>
      ),
    },
  ]
}

const NameLink = ({ job: { id, name } }: { readonly job: ListedJob }) => (
  <Link to="/jobs/$jobId" params={{ jobId: id }} className={classes.name} title={name}>
    {name}
  </Link>
)

const Progress = ({ job: { counts, unitCount } }: { readonly job: ListedJob }) => (
  <div className={classes.progress}>
    <ProgressBar counts={counts} />
    <div className={classes.dimmed} aria-hidden="true">
      {countsText(counts) || plural(unitCount, 'room')}
    </div>
  </div>
)

const stageText = ({ stage, stageCount }: ListedJob): string =>
  stage > 0 && stageCount > 1 ? `Stage ${stage} of ${stageCount}` : ''
