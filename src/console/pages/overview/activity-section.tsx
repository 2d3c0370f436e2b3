// Lists the changes of today, newest first; repeated changes of one type are shown once, with their number.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { actionName } from '../../../contract/journal/action-names.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody } from '../../api.ts'
import { useAuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import classes from './overview.module.css'

type Entry = ResponseOf<Operations['auditLogs']>['logs'][number]

const maxEntriesRead = 200
const maxRunsShown = 7

export function ActivitySection() {
  const { from, to } = useAuditWindow('today', undefined)
  const { logs, nextPageToken } = useBody('auditLogs', { from, to, pageSize: maxEntriesRead })
  const runs = useMemo(() => groupRuns(logs.filter(isChange)), [logs])
  const count = `${logs.length.toLocaleString('en-GB')}${nextPageToken ? '+' : ''}`
  return (
    <Section
      title="Activity today"
      actions={
        <Link to="/audit" search={{ from: 'today' }} className={classes.number}>
          {logs.length === 0 ? 'View audit log' : `View all (${count})`}
        </Link>
      }
    >
      {runs.length === 0 ? (
        <EmptyState title="No changes today" />
      ) : (
        <ol className={classes.list}>
          {runs.slice(0, maxRunsShown).map((run) => (
            <RunItem key={run.newest.id} {...run} />
          ))}
        </ol>
      )}
    </Section>
  )
}

function RunItem({ newest, count, actorCount }: EntryRun) {
  const { type, target, actor, timestamp } = newest
  const targetName = target?.name ?? 'in another region'
  return (
    <li className={classes.change}>
      <Text span fz="sm" c="dimmed">
        <DateTime at={timestamp} />
      </Text>
      <div className={classes.truncated}>
        <Text span fz="sm" fw={500}>
          {actionName(type)}
          {count > 1 && ` (${count}×)`}
        </Text>
        <Text fz="sm" c="dimmed" truncate title={targetName}>
          {[count > 1 ? `latest: ${targetName}` : targetName, actorText(actor, actorCount)].filter(Boolean).join(' · ')}
        </Text>
      </div>
    </li>
  )
}

function actorText({ type, name }: Entry['actor'], actorCount: number): string {
  if (type === 'DEVICE') return actorCount > 1 ? `by ${plural(actorCount, 'device')}` : 'by the device'
  if (type === 'CLI') return 'on the command line'
  return type === 'SYSTEM' ? 'by the system' : `by ${name}`
}

/** Signing in and out changes nothing. */
const isChange = ({ type }: Entry) => !type.startsWith('SESSION_')

interface EntryRun {
  readonly newest: Entry
  readonly count: number
  readonly actorCount: number
}

/** A run is a sequence of entries of one type, all by the same actor or all by devices. */
function groupRuns(logs: readonly Entry[]): EntryRun[] {
  const runs: { newest: Entry; count: number; actorIds: Set<string> }[] = []
  for (const entry of logs) {
    const last = runs.at(-1)
    if (last && isSameRun(last.newest, entry)) {
      last.count++
      last.actorIds.add(entry.actor.id)
    } else runs.push({ newest: entry, count: 1, actorIds: new Set([entry.actor.id]) })
  }
  return runs.map(({ newest, count, actorIds }) => ({ newest, count, actorCount: actorIds.size }))
}

const isSameRun = (a: Entry, b: Entry) =>
  a.type === b.type && a.actor.type === b.actor.type && (a.actor.type === 'DEVICE' || a.actor.id === b.actor.id)
