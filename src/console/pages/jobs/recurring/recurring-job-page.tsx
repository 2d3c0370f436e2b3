// The page of a recurring job: its next run in each time zone, its last ten, and the buttons that pause, edit and delete it. [contract 12.recurring]

import { Button, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ApiError } from '../../../../client/client.ts'
import { operationQuery, useWrite } from '../../../api.ts'
import { useActionText } from '../../../domain/jobs/action-name.ts'
import { mayRunAction } from '../../../domain/jobs/job.ts'
import { paceText, waitsText } from '../../../domain/jobs/job-texts.ts'
import { type RecurringJob, scheduleText } from '../../../domain/jobs/recurring-job.ts'
import { RecurringStateLabel } from '../../../domain/jobs/recurring-state.tsx'
import { useTargetText } from '../../../domain/jobs/target-text.ts'
import { ConfirmDialog } from '../../../parts/dialog/confirm-dialog.tsx'
import { ActionsMenu } from '../../../parts/page/actions-menu.tsx'
import { BinIcon, EditIcon, PauseIcon, PlayIcon } from '../../../parts/page/icons.tsx'
import { EmptyState, ErrorPanel, LoadingBoundary, Page, Section } from '../../../parts/page/page.tsx'
import { PageSkeleton } from '../../../parts/page/skeleton.tsx'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DefinitionList } from '../../../parts/text/definition-list.tsx'
import { Notice } from '../../../parts/text/notice.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import { plural } from '../../../parts/text/words.ts'
import { usePermissions } from '../../../session.ts'
import { type Run, RunResult } from './run-result.tsx'

export function RecurringJobPage() {
  const { recurringJobId: id } = useParams({ from: '/jobs/recurring/$recurringJobId' })
  const { data, error, refetch } = useQuery(operationQuery('recurringJobsGet', { id }))
  if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return <RecurringJobNotFound />
  if (data) return <RecurringJobView job={data.body} />
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />
  return <PageSkeleton />
}

function RecurringJobView({ job }: { readonly job: RecurringJob }) {
  const permissions = usePermissions()
  const textOf = useActionText([job.action])
  return (
    <Page
      title={job.name}
      above={
        <Text fz="sm" component="nav" aria-label="Breadcrumb">
          <Link to="/jobs" search={{ tab: 'recurring' }}>
            Recurring jobs
          </Link>
        </Text>
      }
      beside={<RecurringStateLabel state={job.state} />}
      actions={mayRunAction(job.action.type, permissions) && <RecurringButtons job={job} />}
    >
      <Text mt={-12} style={{ overflowWrap: 'anywhere' }}>
        {textOf(job.action)} · {scheduleText(job.schedule)}
      </Text>
      {job.reason !== undefined && <Notice tone="warning">{job.reason}</Notice>}
      <Section title="Next runs">
        <NextRuns job={job} />
      </Section>
      <Section title="Last runs">
        {job.runs.length === 0 ? (
          <Text c="dimmed">No runs yet.</Text>
        ) : (
          <DataTable
            label="Last runs"
            rows={job.runs}
            columns={runColumns}
            keyOf={({ at, timezone }) => `${at} ${timezone}`}
            minWidthPx={600}
          />
        )}
      </Section>
      <Section title="Details">
        <LoadingBoundary>
          <RecurringProperties job={job} />
        </LoadingBoundary>
      </Section>
    </Page>
  )
}

function NextRuns({ job: { state, nextRuns } }: { readonly job: RecurringJob }) {
  if (state === 'PAUSED') return <Text c="dimmed">No runs while it is paused. Missed runs are not made up.</Text>
  if (nextRuns.length === 0) return <Text c="dimmed">No devices match now.</Text>
  return (
    <DataTable
      label="Next runs"
      rows={nextRuns}
      columns={nextColumns}
      keyOf={({ timezone }) => timezone}
      minWidthPx={400}
    />
  )
}

type NextRun = RecurringJob['nextRuns'][number]
const zoneName = ({ timezone }: Pick<NextRun, 'timezone'>): string => timezone.replaceAll('_', ' ')

const nextColumns: readonly Column<NextRun>[] = [
  { id: 'zone', title: 'Time zone', text: zoneName, sortValue: zoneName, cell: zoneName },
  {
    id: 'at',
    title: 'Starts',
    text: ({ at }) => at,
    sortValue: ({ at }) => at,
    cell: ({ at, timezone }) => <DateTime at={at} zone={timezone} />,
  },
]

const runColumns: readonly Column<Run>[] = [
  { id: 'at', title: 'Due', text: ({ at }) => at, cell: ({ at, timezone }) => <DateTime at={at} zone={timezone} /> },
  { id: 'zone', title: 'Time zone', text: zoneName, cell: zoneName, from: 'medium' },
  { id: 'result', title: 'Job', cell: (run) => <RunResult run={run} /> },
  { id: 'reason', title: 'Reason', text: ({ reason = '' }) => reason, cell: ({ reason }) => reason },
]

function RecurringProperties({ job }: { readonly job: RecurringJob }) {
  const describe = useTargetText()
  const { exclude, ...target } = job.target
  return (
    <DefinitionList
      definitions={[
        ['Applies to', describe(target)],
        ['Except', exclude && describe(exclude)],
        ['Starts rooms within', plural(job.withinHours, 'hour')],
        ['Waits for', waitsText(job)],
        ['Pace', paceText(job)],
        ['Settings locked by a profile', job.skipConflicts && 'Rooms are skipped'],
        ['Runs as', job.startedBy.name],
        ['Created', <DateTime key="created" at={job.createdAt} />],
      ]}
    />
  )
}

function RecurringButtons({ job: { id, name, state } }: { readonly job: RecurringJob }) {
  const navigate = useNavigate()
  const input = { id }
  const pause = useWrite('recurringJobsPause', { successText: 'Recurring job paused' })
  const resume = useWrite('recurringJobsResume', { successText: 'Recurring job resumed' })
  const remove = useWrite('recurringJobsDelete', {
    quiet: true,
    successText: 'Recurring job deleted',
    onDone: () => navigate({ to: '/jobs', search: { tab: 'recurring' }, replace: true }),
  })
  const [isDeleting, dialog] = useDisclosure(false)
  return (
    <>
      {state === 'ACTIVE' ? (
        <Button
          variant="default"
          leftSection={<PauseIcon />}
          loading={pause.isPending}
          onClick={() => pause.mutate({ input })}
        >
          Pause
        </Button>
      ) : (
        <Button leftSection={<PlayIcon />} loading={resume.isPending} onClick={() => resume.mutate({ input })}>
          Resume
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<EditIcon />}
        renderRoot={(props) => (
          <Link {...props} to="/jobs/recurring/$recurringJobId/edit" params={{ recurringJobId: id }} />
        )}
      >
        Edit
      </Button>
      <ActionsMenu label="More actions">
        <Menu.Item c="var(--rk-offline)" leftSection={<BinIcon />} onClick={dialog.open}>
          Delete recurring job
        </Menu.Item>
      </ActionsMenu>
      <ConfirmDialog
        opened={isDeleting}
        onClose={dialog.close}
        title={`Delete ${name}?`}
        verb="Delete"
        mutation={remove}
        onConfirm={() => remove.mutate({ input })}
      >
        No further runs start. Jobs of earlier runs stay.
      </ConfirmDialog>
    </>
  )
}

const RecurringJobNotFound = () => (
  <Page title="Recurring job not found">
    <EmptyState title="There is no recurring job at this address">
      <p>The recurring job may be outside your regions, or it was deleted. Check the address.</p>
      <Button renderRoot={(props) => <Link {...props} to="/jobs" search={{ tab: 'recurring' }} />}>
        View recurring jobs
      </Button>
    </EmptyState>
  </Page>
)
