// The result of a run of a recurring job: the state of its job, or that it was skipped.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { operationQuery } from '../../../api.ts'
import { JobStateLabel } from '../../../domain/jobs/job-state.tsx'
import type { RecurringJob } from '../../../domain/jobs/recurring-job.ts'
import { SkippedIcon } from '../../../parts/page/icons.tsx'
import { StateBadge } from '../../../parts/text/status-label.tsx'

export type Run = RecurringJob['runs'][number]

export const runOutcomeNames: Readonly<Record<Run['outcome'], string>> = { STARTED: 'Started', SKIPPED: 'Skipped' }

export const RunResult = ({ run: { outcome, jobId } }: { readonly run: Run }) =>
  jobId === undefined ? (
    <StateBadge look={{ label: runOutcomeNames[outcome], tone: 'quiet', icon: <SkippedIcon size={16} /> }} />
  ) : (
    <Link to="/jobs/$jobId" params={{ jobId }}>
      <RunState jobId={jobId} />
    </Link>
  )

/** A job is deleted 400 days after its end. */
function RunState({ jobId }: { readonly jobId: string }) {
  const job = useQuery({ ...operationQuery('jobsGet', { id: jobId }), retry: false }).data?.body
  return job ? <JobStateLabel state={job.state} /> : runOutcomeNames.STARTED
}
