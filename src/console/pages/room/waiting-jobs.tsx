// Says which jobs have not ended in this room, and why they wait. [contract 12.states]
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { openUnitStates } from '../../../contract/jobs/job-states.ts'
import { operationQuery } from '../../api.ts'
import { useActionText } from '../../domain/jobs/action-name.ts'
import type { JobUnit, ListedJob } from '../../domain/jobs/job.ts'
import { jobStateName } from '../../domain/jobs/job-state.tsx'
import { reasonText } from '../../domain/jobs/job-texts.ts'
import { JobIcon } from '../../parts/page/icons.tsx'
import { Notice } from '../../parts/text/notice.tsx'
import { shortTime } from '../../parts/text/time.tsx'

/** A draft waits for nothing: it may never be started. */
export function WaitingJobs({ roomId }: { readonly roomId: number }) {
  const jobs = useQuery(operationQuery('jobsList', { roomId, state: 'open' })).data?.body.jobs ?? []
  return jobs
    .filter(({ state }) => state !== 'DRAFT')
    .map((job) => <WaitingJob key={job.id} job={job} roomId={roomId} />)
}

function WaitingJob({ job, roomId }: { readonly job: ListedJob; readonly roomId: number }) {
  const unit = useQuery(operationQuery('jobsRoomsList', { id: job.id, roomId })).data?.body.rooms[0]
  const textOf = useActionText([job.action])
  const isOpen = unit !== undefined && openUnitStates.some((state) => state === unit.state)
  if (!isOpen) return null
  return (
    <Notice tone="quiet" icon={<JobIcon size={16} />}>
      <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
        {job.name}
      </Link>{' '}
      ({textOf(job.action)}): {waitText(job, unit)}
    </Notice>
  )
}

/** A job that does not run is the first thing that its rooms wait for. */
function waitText({ state }: ListedJob, unit: JobUnit): string {
  if (unit.state === 'RUNNING') return 'Being changed now'
  if (unit.state === 'SOAKING')
    return unit.soaksUntil === undefined ? 'Monitored' : `Monitored until ${shortTime(Date.parse(unit.soaksUntil))}`
  if (state !== 'RUNNING') return `The job is ${jobStateName(state).toLowerCase()}`
  return unit.reason === undefined ? `Starts in stage ${unit.stage}` : reasonText(unit.reason)
}
