// Shows audit entries as a table; each row expands to its details.
import { Text } from '@mantine/core'
import { useMemo } from 'react'
import { actionName } from '../../domain/journal/audit/action-names.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import { longTable } from '../../parts/table/long-table.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { AuditDetails } from './audit-details.tsx'
import { type AuditLogEntry, deletedTargets } from './audit-entries.ts'
import { actorTypeNames } from './audit-names.ts'
import { TargetName, type TargetNameOf, useTargetNames } from './audit-target.tsx'

interface AuditTableProps {
  readonly entries: readonly AuditLogEntry[]
  /** These are the loaded entries that match the filters. */
  readonly shown: readonly AuditLogEntry[]
}

export function AuditTable({ entries, shown }: AuditTableProps) {
  const deleted = useMemo(() => deletedTargets(entries), [entries])
  const nameOf = useTargetNames()
  const columns = useMemo(() => columnsOf(deleted, nameOf), [deleted, nameOf])
  return (
    <DataTable
      label="Audit log"
      rows={shown}
      columns={columns}
      keyOf={({ id }) => id}
      details={(entry) => <AuditDetails entry={entry} deleted={deleted} nameOf={nameOf} />}
      long={longTable({ minHeightPx: 240, belowPx: 86, growsAbove: true })}
    />
  )
}

const columnsOf = (deleted: ReadonlySet<string>, nameOf: TargetNameOf): Column<AuditLogEntry>[] => [
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
  { id: 'what', title: 'Action', width: 'minmax(0, 1.2fr)', inCard: 'heading', cell: ({ type }) => actionName(type) },
  {
    id: 'target',
    title: 'Target',
    width: 'minmax(0, 1.6fr)',
    cell: ({ target, details }) => (
      <>
        {target ? <TargetName target={target} deleted={deleted} details={details} nameOf={nameOf} /> : <OtherRegion />}
        <AffectedCount count={details?.affected?.length ?? 0} />
      </>
    ),
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
