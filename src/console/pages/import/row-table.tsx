// The rows of a file with what became, or would become, of each.
import { Badge, Button, Group, SegmentedControl, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { rowChangeText } from '../../../csv/row-fates.ts'
import type { ImportedRow, RowResult } from '../../../csv/run-import.ts'
import type { Column } from '../../parts/table/column.ts'
import { DataTable } from '../../parts/table/data-table.tsx'
import classes from './import.module.css'

export type ShownRow = Pick<ImportedRow, 'row' | 'names' | 'changes' | 'notes' | 'result'>

/** In the order in which people need them. */
const resultTexts: Readonly<Record<RowResult, { readonly text: string; readonly color: string }>> = {
  wrong: { text: 'Wrong', color: 'red' },
  failed: { text: 'Failed', color: 'red' },
  notApplied: { text: 'Not applied', color: 'orange' },
  created: { text: 'Created', color: 'green' },
  changed: { text: 'Changed', color: 'blue' },
  unchanged: { text: 'Unchanged', color: 'gray' },
}

export const ResultCounts = ({ counts }: { readonly counts: Readonly<Partial<Record<RowResult, number>>> }) => (
  <ul className={classes.fates} aria-label="Counts" style={{ listStyle: 'none', margin: 0, padding: 0 }}>
    {results.flatMap((result) =>
      !counts[result] ? (
        []
      ) : (
        <li key={result}>
          <Text span fw={600}>
            {counts[result].toLocaleString('en-GB')}
          </Text>{' '}
          {resultTexts[result].text.toLowerCase()}
        </li>
      ),
    )}
  </ul>
)

const columns: readonly Column<ShownRow>[] = [
  {
    id: 'row',
    title: 'Row',
    width: '70px',
    isNumber: true,
    cell: ({ row }) => row,
    text: ({ row }) => String(row),
    sortValue: ({ row }) => row,
  },
  {
    id: 'name',
    title: 'Room',
    width: '2fr',
    inCard: 'heading',
    breaksWords: true,
    cell: ({ names }) => names.at(-1) ?? '',
    text: ({ names }) => names.at(-1) ?? '',
  },
  {
    id: 'site',
    title: 'Site',
    width: '2fr',
    breaksWords: true,
    cell: ({ names }) => names.slice(0, -1).join(', '),
    text: ({ names }) => names.slice(0, -1).join(', '),
  },
  {
    id: 'result',
    title: 'Result',
    width: '120px',
    inCard: 'corner',
    cell: ({ result }) => <Result result={result} />,
    text: ({ result }) => resultTexts[result].text,
  },
  {
    id: 'changes',
    title: 'Changes',
    width: '4fr',
    breaksWords: true,
    cell: ({ changes, notes }) => (
      <ul className={classes.changes}>
        {[...notes, ...changes.map(rowChangeText)].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    ),
    text: ({ changes, notes }) => [...notes, ...changes.map(rowChangeText)].join('; '),
  },
]

const Result = ({ result }: Pick<ShownRow, 'result'>) => (
  <Badge variant="dot" color={resultTexts[result].color} tt="none" c="var(--mantine-color-text)">
    {resultTexts[result].text}
  </Badge>
)

interface RowTableProps {
  readonly label: string
  readonly rows: readonly ShownRow[]
  /** Saves a file with all rows. */
  readonly onSave: () => void
}

/** More rows would stop the browser for seconds. "Rows as CSV" has all of them. */
const maxShownRows = 500

export function RowTable({ label, rows, onSave }: RowTableProps) {
  const present = useMemo(() => results.filter((result) => rows.some((row) => row.result === result)), [rows])
  const [chosen, setChosen] = useState('all')
  const shown = present.find((result) => result === chosen) ?? 'all'
  const matching = useMemo(() => (shown === 'all' ? rows : rows.filter((row) => row.result === shown)), [rows, shown])
  return (
    <>
      <Group justify="space-between" gap="xs">
        {present.length > 1 ? (
          <SegmentedControl
            aria-label="Show rows"
            size="xs"
            value={shown}
            onChange={setChosen}
            data={[
              { value: 'all', label: 'All rows' },
              ...present.map((result) => ({ value: result, label: resultTexts[result].text })),
            ]}
          />
        ) : (
          <span />
        )}
        <Button variant="subtle" size="compact-sm" onClick={onSave}>
          Rows as CSV
        </Button>
      </Group>
      <DataTable
        label={label}
        rows={matching.slice(0, maxShownRows)}
        columns={columns}
        keyOf={({ row }) => row}
        maxHeightPx={560}
        minWidthPx={640}
      />
      {matching.length > maxShownRows && (
        <Text fz="sm" c="dimmed">
          The first {maxShownRows} of {matching.length.toLocaleString('en-GB')} rows. “Rows as CSV” has all of them.
        </Text>
      )}
    </>
  )
}

const results = Object.keys(resultTexts) as RowResult[]
