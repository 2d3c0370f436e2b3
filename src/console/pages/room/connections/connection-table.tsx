// The connection history of a room as a table: outages, restarts, changes of settings and notes, newest first.
import { Table, Text } from '@mantine/core'
import { DateTime } from '../../../parts/text/time.tsx'
import classes from '../room.module.css'
import type { DeviceConnectionStrips } from './connection-strip.tsx'
import { partText } from './part-text.ts'

interface ConnectionTableProps {
  readonly devices: readonly DeviceConnectionStrips[]
  readonly zone: string
}

export function ConnectionTable({ devices, zone }: ConnectionTableProps) {
  // Notes are about the room and are among the marks of every device.
  const notes = (devices[0]?.marks ?? []).filter(({ kind }) => kind === 'note')
  const rows = devices
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
      <section
        aria-label="Connection table"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        className={classes.scroller}
      >
        <Table stickyHeader fz="sm" mt="sm" miw={480} aria-label="Outages and changes of the last 7 days">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={150}>Time</Table.Th>
              <Table.Th w={180}>Device</Table.Th>
              <Table.Th>Event</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, atMs, name, text }) => (
              <Table.Tr key={key}>
                <Table.Th scope="row" fw={400}>
                  <DateTime at={atMs} zone={zone} />
                </Table.Th>
                <Table.Td>{name}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{text}</Table.Td>
              </Table.Tr>
            ))}
            {rows.length === 0 && (
              <Table.Tr>
                <Table.Td colSpan={3}>No outages or changes in the last 7 days</Table.Td>
              </Table.Tr>
            )}
          </Table.Tbody>
        </Table>
      </section>
    </>
  )
}
