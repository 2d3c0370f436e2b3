// What changed today, newest first; the same thing done many times in a row is told once.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { useBody } from '../../api.ts'
import { useAuditWindow } from '../../domain/audit/audit-window.ts'
import { EmptyState, Section } from '../../parts/page/page.tsx'
import { Timestamp } from '../../parts/text/time.tsx'
import { humanize, plural } from '../../parts/text/words.ts'
import classes from './overview.module.css'

type Entry = ResponseOf<Operations['auditLogs']>['logs'][number]

const mostRead = 200
const mostShown = 7

export function ChangesSection() {
  const { from, to } = useAuditWindow('today', undefined)
  const { logs, nextPageToken } = useBody('auditLogs', { from, to, pageSize: mostRead })
  const runs = useMemo(() => runsOf(logs.filter(isChange)), [logs])
  const count = `${nextPageToken ? 'Over' : 'All'} ${plural(logs.length, 'entry', 'entries')}`
  return (
    <Section
      title="Changed today"
      actions={
        <Link to="/audit" search={{ from: 'today' }} className={classes.number}>
          {logs.length === 0 ? 'Audit log' : count}
        </Link>
      }
    >
      {runs.length === 0 ? (
        <EmptyState
          title={logs.length === 0 ? 'Nothing has happened since midnight.' : 'Only sign-ins since midnight.'}
        />
      ) : (
        <ol className={classes.list}>
          {runs.slice(0, mostShown).map((run) => (
            <Change key={run.newest.id} {...run} />
          ))}
        </ol>
      )}
    </Section>
  )
}

function Change({ newest, count, actors }: Run) {
  const { type, target, actor, timestamp } = newest
  return (
    <li className={classes.change}>
      <Text span fz="sm" c="dimmed">
        <Timestamp at={timestamp} />
      </Text>
      <div className={classes.cut}>
        <Text span fz="sm" fw={550}>
          {humanize(type)}
          {count > 1 && `, ${count} times`}
        </Text>
        <Text fz="sm" c="dimmed" truncate title={target.name}>
          {[count > 1 ? `last: ${target.name}` : target.name, whoOf(actor, actors)].filter(Boolean).join(' · ')}
        </Text>
      </div>
    </li>
  )
}

function whoOf({ type, name }: Entry['actor'], actors: number): string {
  if (type === 'DEVICE') return actors > 1 ? `by ${plural(actors, 'device')}` : 'by the device'
  if (type === 'CLI') return 'on the command line'
  return type === 'SYSTEM' ? 'by the server' : `by ${name}`
}

/** Who signs in changes nothing. */
const isChange = ({ type }: Entry) => !type.startsWith('SESSION_')

interface Run {
  readonly newest: Entry
  readonly count: number
  /** How many different ones did it. */
  readonly actors: number
}

/** Neighbours of one type: by one key, or each by some device. */
function runsOf(logs: readonly Entry[]): Run[] {
  const runs: { newest: Entry; count: number; who: Set<string> }[] = []
  for (const entry of logs) {
    const last = runs.at(-1)
    if (last && isAlike(last.newest, entry)) {
      last.count++
      last.who.add(entry.actor.id)
    } else runs.push({ newest: entry, count: 1, who: new Set([entry.actor.id]) })
  }
  return runs.map(({ newest, count, who }) => ({ newest, count, actors: who.size }))
}

const isAlike = (a: Entry, b: Entry) =>
  a.type === b.type && a.actor.type === b.actor.type && (a.actor.type === 'DEVICE' || a.actor.id === b.actor.id)
