// The details of a row that stands for all entries of a job: the latest of them, and a link to all.
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { actionName } from '../../../contract/journal/action-names.ts'
import { operationQuery } from '../../api.ts'
import type { AuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { ErrorPanel } from '../../parts/page/page.tsx'
import { Loading } from '../../parts/page/skeleton.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import classes from './audit.module.css'
import { OnlyLink } from './audit-details.tsx'
import { TargetName, type Targets } from './audit-target.tsx'

const latestCount = 10

interface JobEntriesProps {
  readonly jobId: string
  readonly count: number
  readonly window: AuditWindow
  readonly targets: Targets
}

export function JobEntries({ jobId, count, window: { from, to }, targets }: JobEntriesProps) {
  const query = useQuery(operationQuery('auditLogs', { from, to, jobId, pageSize: latestCount }))
  const entries = query.data?.body.logs
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
  if (entries === undefined) return <Loading />
  return (
    <Stack gap="xs" className={classes.details}>
      {entries.map(({ id, timestamp, type, target, details }) => (
        <Group key={id} gap="sm">
          <Text span fz="sm" c="dimmed">
            <DateTime at={timestamp} />
          </Text>
          <Text span fz="sm">
            {actionName(type)}
          </Text>
          <span>{target && <TargetName target={target} details={details} targets={targets} />}</span>
        </Group>
      ))}
      <OnlyLink search={{ job: jobId }}>Show all {count.toLocaleString('en-GB')} entries of the job</OnlyLink>
    </Stack>
  )
}
