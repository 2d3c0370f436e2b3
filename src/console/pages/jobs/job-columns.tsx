// Defines the columns of the list of jobs, for wide windows and for phones.
import { Link } from '@tanstack/react-router'
import type { ListedJob, PlannedAction } from '../../domain/jobs/job.ts'
import { JobStateLabel } from '../../domain/jobs/job-state.tsx'
import { countsText, ProgressBar } from '../../domain/jobs/progress-bar.tsx'
import type { Column } from '../../parts/table/column.ts'
import { shortTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './jobs.module.css'

interface ColumnOptions {
  readonly isPhone: boolean
  readonly textOf: (action: PlannedAction) => string
}

export function jobColumns({ isPhone, textOf }: ColumnOptions): Column<ListedJob>[] {
  if (isPhone) return [phoneColumn(textOf)]
  return [
    {
      id: 'name',
      title: 'Job',
      width: 'minmax(180px, 2fr)',
      cell: (job) => (
        <>
          <NameLink job={job} />
          <div className={classes.dimmed} title={textOf(job.action)}>
            {textOf(job.action)}
          </div>
        </>
      ),
    },
    {
      id: 'state',
      title: 'State',
      width: 'minmax(120px, 1fr)',
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
      cell: (job) => <Progress job={job} />,
    },
    {
      id: 'start',
      title: 'Started by',
      width: 'minmax(110px, 1fr)',
      cell: ({ startedBy, startedAt, createdAt }) => (
        <>
          <div>{startedBy.name}</div>
          <div className={classes.dimmed}>{shortTime(Date.parse(startedAt ?? createdAt))}</div>
        </>
      ),
    },
  ]
}

/** Phones show everything about a job in one cell. */
const phoneColumn = (textOf: (action: PlannedAction) => string): Column<ListedJob> => ({
  id: 'name',
  title: 'Job',
  width: 'minmax(0, 1fr)',
  cell: (job) => (
    <>
      <NameLink job={job} />
      <div className={classes.dimmed}>{textOf(job.action)}</div>
      <div className={classes.phoneLine}>
        <JobStateLabel state={job.state} />
        <Progress job={job} />
      </div>
    </>
  ),
})

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
