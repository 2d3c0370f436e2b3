// The facts of a job: its target, how it goes from room to room, its times and its starter. [contract 12.job]
import { Link } from '@tanstack/react-router'
import type { JobDetails } from '../../domain/jobs/job.ts'
import { paceText, waitsText } from '../../domain/jobs/job-texts.ts'
import { useTargetText } from '../../domain/jobs/target-text.ts'
import { type Definition, DefinitionList } from '../../parts/text/definition-list.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'

export function JobProperties({ job }: { readonly job: JobDetails }) {
  const describe = useTargetText()
  const { exclude, ...target } = job.target
  const definitions: readonly Definition[] = [
    ['Applies to', describe(target)],
    ['Except', exclude && describe(exclude)],
    ['Size', `${plural(job.endpointCount, 'device')} in ${plural(job.unitCount, 'room')}`],
    ['Started by', job.startedBy.name],
    [
      'Run of',
      job.recurringJobId !== undefined && (
        <Link key="run" to="/jobs/recurring/$recurringJobId" params={{ recurringJobId: job.recurringJobId }}>
          Recurring job
        </Link>
      ),
    ],
    ['Attempt', job.attempt > 1 && String(job.attempt)],
    ['Monitored', (job.soakMinutes ?? 0) > 0 && `${plural(job.soakMinutes ?? 0, 'minute')} for each room`],
    ['Too many failures', failuresText(job)],
    ['Waits for', waitsText(job)],
    ['Pace', paceText(job)],
    ['Settings locked by a profile', job.skipConflicts === true && 'Rooms are skipped'],
    ['New devices', job.includeNew === true && 'Join while the job runs'],
    ['Created', <DateTime key="created" at={job.createdAt} />],
    ['Starts', typeof job.startAt === 'string' && !job.startedAt && <DateTime at={job.startAt} />],
    ['Started', job.startedAt && <DateTime at={job.startedAt} />],
    ['Deadline', job.deadline && !job.endedAt && <DateTime at={job.deadline} />],
    ['Ended', job.endedAt && <DateTime at={job.endedAt} />],
  ]
  return <DefinitionList definitions={definitions} />
}

function failuresText({ failures, onFailure, stages }: JobDetails): string | false {
  // With 100 % no number of failures stops the job.
  if (stages === undefined || failures?.percent === 100) return false
  const limit = `More than ${failures?.percent ?? 5} %, at least ${failures?.atLeast ?? 1}`
  return `${limit}: ${onFailure === 'rollBack' ? 'the job stops and is rolled back' : 'the job stops'}`
}
