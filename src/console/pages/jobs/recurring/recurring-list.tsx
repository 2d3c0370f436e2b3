// The list of recurring jobs, with the next and the last run of each. [contract 12.recurring]
import { Button } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { operationQuery } from '../../../api.ts'
import { useActionText } from '../../../domain/jobs/action-name.ts'
import type { PlannedAction } from '../../../domain/jobs/job.ts'
import { type RecurringJob, scheduleText } from '../../../domain/jobs/recurring-job.ts'
import { RecurringStateLabel, recurringStateName } from '../../../domain/jobs/recurring-state.tsx'
import { EmptyState } from '../../../parts/page/page.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { longTable } from '../../../parts/table/long-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { usePermissions } from '../../../session.ts'
import classes from '../jobs.module.css'
import { RunResult, runOutcomeNames } from './run-result.tsx'

export function RecurringList() {
  const { operate } = usePermissions()
  const { recurringJobs } = useSuspenseQuery(operationQuery('recurringJobsList')).data.body
  const textOf = useActionText(useMemo(() => recurringJobs.map(({ action }) => action), [recurringJobs]))
  const columns = useMemo(() => columnsWith(textOf), [textOf])
  return (
    <DataTable
      label="Recurring jobs"
      rows={recurringJobs}
      columns={columns}
      keyOf={({ id }) => id}
      minWidthPx={900}
      long={longTable({ rowHeight: 60 })}
      empty={
        <EmptyState title="No recurring jobs">
          <p>A recurring job repeats an action on days of the week, such as a restart every night.</p>
          {operate && (
            <Button renderRoot={(props) => <Link {...props} to="/jobs/new" search={{ recurring: 'yes' }} />}>
              New recurring job
            </Button>
          )}
        </EmptyState>
      }
    />
  )
}

function columnsWith(textOf: (action: PlannedAction) => string): readonly Column<RecurringJob>[] {
  return [
    {
      id: 'name',
      width: 'minmax(180px, 2fr)',
      title: 'Recurring job',
      text: ({ name }) => name,
      sortValue: ({ name }) => name.toLowerCase(),
      cell: ({ id, name, action }) => (
        <>
          <Link
            to="/jobs/recurring/$recurringJobId"
            params={{ recurringJobId: id }}
            className={classes.name}
            title={name}
          >
            {name}
          </Link>
          <div className={classes.dimmed} title={textOf(action)}>
            {textOf(action)}
          </div>
        </>
      ),
    },
    {
      id: 'state',
      width: '110px',
      title: 'State',
      text: ({ state }) => recurringStateName(state),
      sortValue: ({ state }) => state,
      inCard: 'corner',
      cell: ({ state }) => <RecurringStateLabel state={state} />,
    },
    {
      id: 'schedule',
      width: 'minmax(150px, 1fr)',
      title: 'Schedule',
      text: ({ schedule }) => scheduleText(schedule),
      cell: ({ schedule }) => scheduleText(schedule),
    },
    {
      id: 'next',
      width: 'minmax(200px, 1.2fr)',
      title: 'Next run',
      text: ({ nextRuns }) => nextRuns[0]?.at ?? '',
      sortValue: ({ nextRuns }) => nextRuns[0]?.at ?? '',
      cell: ({ nextRuns: [next] }) => next && <DateTime at={next.at} zone={next.timezone} />,
    },
    {
      id: 'last',
      width: 'minmax(160px, 1.2fr)',
      title: 'Last run',
      text: ({ runs }) => (runs[0] ? `${runOutcomeNames[runs[0].outcome]} ${runs[0].at}` : ''),
      cell: ({ runs: [last] }) =>
        last && (
          <>
            <RunResult run={last} />
            <div className={classes.dimmed}>
              <DateTime at={last.at} zone={last.timezone} />
            </div>
          </>
        ),
    },
  ]
}
