// Shows audit entries as a table; each row expands to its details.
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { actionName } from '../../../contract/journal/action-names.ts'
import type { AuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { longTable } from '../../parts/table/long-table.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { AuditDetails } from './audit-details.tsx'
import { type AuditLogEntry, foldedJobOf } from './audit-entries.ts'
import { actorTypeNames } from './audit-names.ts'
import { TargetName, type Targets, useTargets } from './audit-target.tsx'
import { JobEntries } from './job-entries.tsx'
import { useJobName } from './job-names.ts'

interface AuditTableProps {
  readonly entries: readonly AuditLogEntry[]
  readonly window: AuditWindow
}

export function AuditTable({ entries, window }: AuditTableProps) {
  const targets = useTargets()
  const nameOfJob = useJobName()
  const columns = useMemo(() => columnsOf(targets, nameOfJob), [targets, nameOfJob])
  return (
    <DataTable
      label="Audit log"
      rows={entries}
      columns={columns}
      keyOf={({ id }) => id}
      details={(entry) => {
        const jobId = foldedJobOf(entry)
        return jobId === undefined ? (
          <AuditDetails entry={entry} targets={targets} nameOfJob={nameOfJob} />
        ) : (
          <JobEntries jobId={jobId} count={entry.jobEntryCount ?? 1} window={window} targets={targets} />
        )
      }}
      long={longTable({ minHeightPx: 240, belowPx: 86, growsAbove: true })}
    />
  )
}

const columnsOf = (targets: Targets, nameOfJob: (id: string) => string): Column<AuditLogEntry>[] => [
  {
    id: 'when',
    title: 'Time',
    width: '150px',
    inCard: 'corner',
    cell: (entry, { isOpen, toggle }) => (
      <DisclosureButton isOpen={isOpen} onClick={toggle}>
        <DateTime at={entry.timestamp} />
        <VisuallyHidden>, details of entry {entry.id}</VisuallyHidden>
      </DisclosureButton>
    ),
  },
  { id: 'what', title: 'Action', width: 'minmax(0, 1.2fr)', inCard: 'heading', cell: actionText },
  {
    id: 'target',
    title: 'Target',
    width: 'minmax(0, 1.6fr)',
    cell: (entry) => {
      const { target, details } = entry
      const jobId = foldedJobOf(entry)
      if (jobId !== undefined) {
        const job = { type: 'job', id: jobId, name: nameOfJob(jobId) }
        return <TargetName target={job} targets={targets} />
      }
      return (
        <>
          {target ? <TargetName target={target} details={details} targets={targets} /> : <OtherRegion />}
          <AffectedCount count={details?.affected?.length ?? 0} />
        </>
      )
    },
  },
  {
    id: 'who',
    title: 'Actor',
    width: 'minmax(0, 1fr)',
    cell: ({ actor }) => (
      <>
        {actor.name || actor.id}
        <Text span fz="sm" c="dimmed">
          {' '}
          {actorTypeNames[actor.type]}
        </Text>
      </>
    ),
  },
]

/** "Device settings changed", or "Changes by a job (151)". */
const actionText = (entry: AuditLogEntry): string =>
  foldedJobOf(entry) === undefined
    ? actionName(entry.type)
    : `Changes by a job (${(entry.jobEntryCount ?? 1).toLocaleString('en-GB')})`

const OtherRegion = () => (
  <Text span fz="sm" c="dimmed">
    In another region
  </Text>
)

const AffectedCount = ({ count }: { readonly count: number }) =>
  count > 0 && (
    <Text span fz="sm" c="dimmed">
      {' '}
      and {count} more
    </Text>
  )
