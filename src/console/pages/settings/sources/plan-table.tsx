// The rows of a source's plan: what each would make, change or link here.
import { Badge, Text } from '@mantine/core'
import { useMemo } from 'react'
import { rowChangeText } from '../../../../csv/row-fates.ts'
import type { SourcePlanRow } from '../../../../plan/source/source-plan.ts'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { ResultCount } from '../../../parts/table/list-filters.tsx'
import { longTable } from '../../../parts/table/long-table.tsx'
import type { RowSelection } from '../../../parts/table/row-selection.ts'

const fates: Readonly<Record<SourcePlanRow['fate'], { readonly text: string; readonly color: string }>> = {
  created: { text: 'New', color: 'green' },
  linked: { text: 'Link', color: 'gray' },
  changed: { text: 'Change', color: 'blue' },
}

/** The names on the path of a new thing say these. */
const saidByPath: ReadonlySet<string> = new Set(['name', 'region', 'location'])

const changesText = ({ fate, changes }: SourcePlanRow): string => {
  if (fate === 'linked') return 'It has the same name here. Only the link is written.'
  const shown = fate === 'created' ? changes.filter(({ field }) => !saidByPath.has(field)) : changes
  return shown.map(rowChangeText).join('; ')
}

const columns: readonly Column<SourcePlanRow>[] = [
  {
    id: 'name',
    title: 'Name',
    width: '3fr',
    breaksWords: true,
    inCard: 'heading',
    sortValue: ({ path }) => path.join(' / ').toLowerCase(),
    text: ({ path }) => path.join(' / '),
    cell: ({ path }) => (
      <div>
        {path.at(-1)}
        {path.length > 1 && (
          <Text fz="xs" c="dimmed" fw={400}>
            {path.slice(0, -1).join(' / ')}
          </Text>
        )}
      </div>
    ),
  },
  {
    id: 'kind',
    title: 'Kind',
    width: '110px',
    sortValue: ({ kind }) => kind,
    text: ({ kind }) => kind,
    cell: ({ kind }) => kind.charAt(0).toUpperCase() + kind.slice(1),
  },
  {
    id: 'fate',
    title: 'Plan',
    width: '110px',
    inCard: 'corner',
    sortValue: ({ fate }) => fate,
    text: ({ fate }) => fates[fate].text,
    cell: ({ fate }) => (
      <Badge variant="dot" color={fates[fate].color} tt="none" c="var(--mantine-color-text)">
        {fates[fate].text}
      </Badge>
    ),
  },
  {
    id: 'changes',
    title: 'Values',
    width: '4fr',
    breaksWords: true,
    text: changesText,
    cell: (row) => (
      <Text fz="sm" fw={400} lineClamp={2} title={changesText(row)} style={{ whiteSpace: 'normal' }}>
        {changesText(row)}
      </Text>
    ),
  },
]

interface PlanTableProps {
  readonly rows: readonly SourcePlanRow[]
  readonly selection: RowSelection
}

export function PlanTable({ rows, selection }: PlanTableProps) {
  const selected = useMemo(() => rows.filter(({ pointer }) => selection.keys.has(pointer)), [rows, selection.keys])
  return (
    <DataTable
      label="Plan of the source"
      rows={rows}
      columns={columns}
      keyOf={({ pointer }) => pointer}
      minWidthPx={640}
      long={longTable({
        list: 'source-plan',
        rowHeight: 64,
        minHeightPx: 320,
        summary: <ResultCount shown={rows.length} all={rows.length} one="row" onClear={undefined} />,
        selection: { rows: selection, nameOf: ({ path }) => path.join(' / '), selected, actions: null },
      })}
    />
  )
}
