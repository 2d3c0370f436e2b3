// The connection history of a room as a table: outages, restarts, changes of settings and notes, newest first.
import { Box, Text } from '@mantine/core'
import type { Column } from '../../../parts/table/column.ts'
import { DataTable } from '../../../parts/table/data-table.tsx'
import { DateTime } from '../../../parts/text/time.tsx'
import type { DeviceConnectionStrips } from './connection-strip.tsx'
import classes from './connections.module.css'
import { partText } from './part-text.ts'

interface ConnectionTableProps {
  readonly devices: readonly DeviceConnectionStrips[]
  readonly zone: string
}

export function ConnectionTable({ devices, zone }: ConnectionTableProps) {
  // Notes are about the room and are among the marks of every device.
  const notes = (devices[0]?.marks ?? []).filter(({ kind }) => kind === 'note')
  const rows: readonly ConnectionRow[] = devices
    .flatMap(({ id, name, parts, marks }) => [
      ...parts
        .filter(({ state }) => state !== 'online')
        .map((part) => ({ key: `${id} ${part.fromMs}`, atMs: part.fromMs, name, text: partText(part) })),
      ...marks
        .filter(({ kind }) => kind !== 'note')
        .map(({ kind, atMs, text }) => ({ key: `${id} ${kind} ${atMs} ${text}`, atMs, name, text })),
    ])
    .concat(notes.map(({ atMs, text }) => ({ key: `note ${atMs} ${text}`, atMs, name: 'Room', text })))
    .sort((a, b) => b.atMs - a.atMs)
  return (
    <>
      <ul className={classes.lines}>
        {devices.map(({ id, name, text }) => (
          <Text key={id} component="li" fz="sm">
            {name}: {text}
          </Text>
        ))}
      </ul>
      <Box mt="sm">
        <DataTable
          label="Outages and changes of the last 7 days"
          rows={rows}
          columns={columnsIn(zone)}
          keyOf={({ key }) => key}
          minWidthPx={480}
          maxHeightPx={480}
          empty="No outages or changes in the last 7 days"
        />
      </Box>
    </>
  )
}

interface ConnectionRow {
  readonly key: string
  readonly atMs: number
  readonly name: string
  readonly text: string
}

const columnsIn = (zone: string): readonly Column<ConnectionRow>[] => [
  {
    id: 'time',
    title: 'Time',
    width: '150px',
    sortValue: ({ atMs }) => atMs,
    cell: ({ atMs }) => <DateTime at={atMs} zone={zone} />,
  },
  {
    id: 'device',
    title: 'Device',
    width: '180px',
    sortValue: ({ name }) => name.toLowerCase(),
    cell: ({ name }) => name,
  },
  { id: 'event', title: 'Event', breaksWords: true, cell: ({ text }) => text },
]
