// The entries as a table; each opens to show all that it holds.
import { Text } from '@mantine/core'
import { useCallback, useMemo, useState } from 'react'
import { DisclosureButton } from '../../parts/page/disclosure-button.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import { type Column, VirtualTable } from '../../parts/table/virtual-table.tsx'
import { Timestamp } from '../../parts/text/time.tsx'
import { humanize } from '../../parts/text/words.ts'
import { AuditDetails } from './audit-details.tsx'
import { type Entry, goneIn } from './audit-entries.ts'
import { TargetName } from './audit-target.tsx'
import { actorKinds } from './audit-words.ts'

interface AuditTableProps {
  /** All that are loaded, and those of them that are shown. */
  readonly entries: readonly Entry[]
  readonly shown: readonly Entry[]
}

/** An entry, or below it the details of one that is open. */
interface Row {
  readonly entry: Entry
  readonly isOpen: boolean
  readonly isDetail: boolean
}

export function AuditTable({ entries, shown }: AuditTableProps) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const gone = useMemo(() => goneIn(entries), [entries])
  const rows = useMemo(
    () =>
      shown.flatMap((entry): Row[] => {
        const isOpen = opened.has(entry.id)
        return [{ entry, isOpen, isDetail: false }, ...(isOpen ? [{ entry, isOpen, isDetail: true }] : [])]
      }),
    [shown, opened],
  )
  const toggle = useCallback((id: string) => setOpened((old) => old.symmetricDifference(new Set([id]))), [])
  const columns = useMemo(() => columnsOf(gone, toggle), [gone, toggle])
  return (
    <VirtualTable
      label="Audit log"
      rows={rows}
      columns={columns}
      keyOf={keyOf}
      minHeightPx={240}
      belowPx={86}
      onRowClick={({ entry }) => toggle(entry.id)}
      wideContent={({ entry, isDetail }) => (isDetail ? <AuditDetails entry={entry} gone={gone} /> : undefined)}
      growsAbove
    />
  )
}

const keyOf = ({ entry, isDetail }: Row) => `${entry.id} ${isDetail}`

const columnsOf = (gone: ReadonlySet<string>, toggle: (id: string) => void): Column<Row>[] => [
  {
    id: 'when',
    title: 'When',
    width: '150px',
    cell: ({ entry, isOpen }) => (
      <DisclosureButton isOpen={isOpen} onClick={() => toggle(entry.id)}>
        <Timestamp at={entry.timestamp} />
        <VisuallyHidden>, details of entry {entry.id}</VisuallyHidden>
      </DisclosureButton>
    ),
  },
  { id: 'what', title: 'What', width: 'minmax(0, 1.2fr)', cell: ({ entry }) => humanize(entry.type) },
  {
    id: 'target',
    title: 'On what',
    width: 'minmax(0, 1.6fr)',
    cell: ({ entry: { target, details } }) => (
      <>
        <TargetName target={target} gone={gone} details={details} />
        <More count={details.affected?.length ?? 0} />
      </>
    ),
  },
  {
    id: 'who',
    title: 'Who',
    width: 'minmax(0, 1fr)',
    cell: ({ entry: { actor } }) => (
      <>
        {actor.name || actor.id}
        <Text span fz="sm" c="dimmed">
          {' '}
          {actorKinds[actor.type]}
        </Text>
      </>
    ),
  },
]

const More = ({ count }: { readonly count: number }) =>
  count > 0 && (
    <Text span fz="sm" c="dimmed">
      {' '}
      and {count} more
    </Text>
  )
