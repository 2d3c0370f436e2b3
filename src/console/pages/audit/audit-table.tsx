// Shows audit entries as a table; each row expands to its details.
import { Text } from '@mantine/core'
import { useCallback, useMemo, useState } from 'react'
import { actionName } from '../../domain/journal/audit/action-names.ts'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import type { Column } from '../../parts/table/column.ts'
import { VirtualTable } from '../../parts/table/virtual-table.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { AuditDetails } from './audit-details.tsx'
import { type AuditLogEntry, deletedTargets } from './audit-entries.ts'
import { actorTypeNames } from './audit-names.ts'
import { TargetName } from './audit-target.tsx'

interface AuditTableProps {
  readonly entries: readonly AuditLogEntry[]
  /** These are the loaded entries that match the filters. */
  readonly shown: readonly AuditLogEntry[]
}

/** A row is an entry, or the details below an expanded entry. */
interface Row {
  readonly entry: AuditLogEntry
  readonly isOpen: boolean
  readonly isDetail: boolean
}

export function AuditTable({ entries, shown }: AuditTableProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const deleted = useMemo(() => deletedTargets(entries), [entries])
  const rows = useMemo(
    () =>
      shown.flatMap((entry): Row[] => {
        const isOpen = opened.has(entry.id)
        return [{ entry, isOpen, isDetail: false }, ...(isOpen ? [{ entry, isOpen, isDetail: true }] : [])]
      }),
    [shown, opened],
  )
  const toggle = useCallback((id: string) => setOpened((old) => old.symmetricDifference(new Set([id]))), [])
  const columns = useMemo(() => columnsOf(deleted, toggle), [deleted, toggle])
  return (
    <VirtualTable
      label="Audit log"
      rows={rows}
      columns={columns}
      keyOf={keyOf}
      minHeightPx={240}
      belowPx={86}
      onRowClick={({ entry }) => toggle(entry.id)}
      wideContent={({ entry, isDetail }) => (isDetail ? <AuditDetails entry={entry} deleted={deleted} /> : undefined)}
      growsAbove
    />
  )
}

const keyOf = ({ entry, isDetail }: Row) => `${entry.id} ${isDetail}`

const columnsOf = (deleted: ReadonlySet<string>, toggle: (id: string) => void): Column<Row>[] => [
  {
    id: 'when',
    title: 'Time',
    width: '150px',
    cell: ({ entry, isOpen }) => (
      <DisclosureButton isOpen={isOpen} onClick={() => toggle(entry.id)}>
        <DateTime at={entry.timestamp} />
        <VisuallyHidden>, details of entry {entry.id}</VisuallyHidden>
      </DisclosureButton>
    ),
  },
  { id: 'what', title: 'Action', width: 'minmax(0, 1.2fr)', cell: ({ entry }) => actionName(entry.type) },
  {
    id: 'target',
    title: 'Target',
    width: 'minmax(0, 1.6fr)',
    cell: ({ entry: { target, details } }) => (
      <>
        {target ? <TargetName target={target} deleted={deleted} details={details} /> : <OtherRegion />}
        <AffectedCount count={details?.affected?.length ?? 0} />
      </>
    ),
  },
  {
    id: 'who',
    title: 'Actor',
    width: 'minmax(0, 1fr)',
    cell: ({ entry: { actor } }) => (
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
