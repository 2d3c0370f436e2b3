// The page of one job: its stages as bars, its rooms with the reason of their state, and the buttons that steer it. [contract 12.states]

import { Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ApiError } from '../../../client/client.ts'
import { operationQuery } from '../../api.ts'
import { useActionText } from '../../domain/jobs/action-name.ts'
import { type JobDetails, mayRunAction } from '../../domain/jobs/job.ts'
import { JobStateLabel } from '../../domain/jobs/job-state.tsx'
import { jobReasonText } from '../../domain/jobs/job-texts.ts'
import { EmptyState, ErrorPanel, LoadingBoundary, Page, Section } from '../../parts/page/page.tsx'
import { PageSkeleton } from '../../parts/page/skeleton.tsx'
import { Notice } from '../../parts/text/notice.tsx'
import { usePermissions } from '../../session.ts'
import { JobButtons } from './job-buttons.tsx'
import { JobProperties } from './job-properties.tsx'
import { JobRooms } from './job-rooms.tsx'
import { StageBars } from './stage-bars.tsx'

export function JobPage() {
  const { jobId } = useParams({ from: '/jobs/$jobId' })
  const { data, error, refetch } = useQuery(operationQuery('jobsGet', { id: jobId }))
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return <JobNotFound />
  if (data) return <JobView job={data.body} />
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return <PageSkeleton />
}

function JobView({ job }: { readonly job: JobDetails }) {
  const permissions = usePermissions()
  const textOf = useActionText([job.action])
  return (
    <Page
      title={job.name}
      above={
        <Text fz="sm" component="nav" aria-label="Breadcrumb">
          <Link to="/jobs" activeOptions={{ exact: true }}>
            Jobs
          </Link>
        </Text>
      }
      beside={<JobStateLabel state={job.state} />}
      actions={mayRunAction(job.action.type, permissions) && <JobButtons job={job} />}
    >
      <Text mt={-12} style={{ overflowWrap: 'anywhere' }}>
        {textOf(job.action)}
      </Text>
      {job.reason !== undefined && (
        <Notice tone={job.state === 'STOPPED' ? 'danger' : 'warning'}>{jobReasonText(job.state, job.reason)}</Notice>
      )}
      <Section title="Progress">
        {job.stageCounts.length === 0 ? (
          <Text c="dimmed">The job chooses its rooms when it starts.</Text>
        ) : (
          <StageBars job={job} />
        )}
      </Section>
      <Section title="Rooms">
        <LoadingBoundary>
          <JobRooms job={job} />
        </LoadingBoundary>
      </Section>
      <Section title="Details">
        <Stack gap="sm">
          <LoadingBoundary>
            <JobProperties job={job} />
          </LoadingBoundary>
        </Stack>
      </Section>
    </Page>
  )
}

const JobNotFound = () => (
  <Page title="Job not found">
    <EmptyState title="There is no job at this address">
      <p>The job may be outside your regions, or it ended more than 400 days ago and was deleted. Check the address.</p>
      <Button component={Link} to="/jobs">
        View jobs
      </Button>
    </EmptyState>
  </Page>
)
