// Devices by model and by firmware: how many, how many of them are connected. Each number leads to its devices.
import { Button, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { modelOf } from '../../../contract/models.ts'
import {
  connectedChoices,
  type DeviceFilter,
  type DeviceTableRow,
  firmwareOf,
  isConnectedChoice,
  unknownFirmware,
} from '../../domain/device/device-rows.ts'
import { Section } from '../../parts/page/page.tsx'
import { VisuallyHidden } from '../../parts/page/visually-hidden.tsx'
import classes from './overview.module.css'

interface RowsProps {
  readonly rows: readonly DeviceTableRow[]
}

export const ModelsSection = ({ rows }: RowsProps) => (
  <CountsSection
    title="Devices by model"
    what="Model"
    rows={rows}
    groupOf={modelOfRow}
    nameOf={(model) => modelOf(model).name}
    filterOf={(model) => ({ model })}
  />
)

export const FirmwareSection = ({ rows }: RowsProps) => (
  <CountsSection
    title="Devices by firmware"
    what="Firmware"
    rows={rows}
    groupOf={firmwareOf}
    nameOf={(firmware) => (firmware === unknownFirmware ? 'Not reported' : firmware)}
    filterOf={(firmware) => ({ firmware })}
  />
)

const modelOfRow = ({ model }: DeviceTableRow): string => model

interface CountsSectionProps extends RowsProps {
  readonly title: string
  readonly what: string
  readonly groupOf: (row: DeviceTableRow) => string
  readonly nameOf: (group: string) => string
  readonly filterOf: (group: string) => DeviceFilter
}

const mostShown = 9

function CountsSection({ title, what, rows, groupOf, nameOf, filterOf }: CountsSectionProps) {
  const groups = useMemo(() => countBy(rows, groupOf), [rows, groupOf])
  const [showsAll, all] = useDisclosure(false)
  const shown = showsAll || groups.length <= mostShown + 1 ? groups : groups.slice(0, mostShown)
  return (
    <Section title={title}>
      <Table verticalSpacing={5} horizontalSpacing={6} className={classes.counts} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{what}</Table.Th>
            <Table.Th>Connected</Table.Th>
            <Table.Th>Offline</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ group, devices, connected }) => (
            <Table.Tr key={group}>
              <Table.Th scope="row" title={nameOf(group)}>
                {nameOf(group)}
              </Table.Th>
              <Table.Td>
                <Count filter={{ ...filterOf(group), connected: 'yes' }} of={nameOf(group)} count={connected} />
                <span className={classes.of}> of </span>
                <Count filter={filterOf(group)} of={nameOf(group)} count={devices} />
              </Table.Td>
              <Table.Td>
                <Count
                  filter={{ ...filterOf(group), connected: 'no' }}
                  of={nameOf(group)}
                  count={devices - connected}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {shown.length < groups.length && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={all.open}>
          Show all {groups.length}
        </Button>
      )}
    </Section>
  )
}

interface CountProps {
  readonly filter: DeviceFilter
  readonly of: string
  readonly count: number
}

/** Heard as "5 Pad offline"; seen as 5. */
function Count({ filter, of, count }: CountProps) {
  if (count === 0) return <span className={classes.of}>0</span>
  const { connected } = filter
  return (
    <Link to="/devices" search={filter} className={connected === 'no' ? classes.bad : classes.number}>
      {count.toLocaleString('en-GB')}
      <VisuallyHidden>
        {' '}
        {[of, ...(isConnectedChoice(connected) ? [connectedChoices[connected]] : [])].join(' ').toLowerCase()}
      </VisuallyHidden>
    </Link>
  )
}

interface GroupCount {
  readonly group: string
  readonly devices: number
  readonly connected: number
}

/** The largest first. */
function countBy(rows: readonly DeviceTableRow[], groupOf: (row: DeviceTableRow) => string): GroupCount[] {
  const counts = new Map<string, { devices: number; connected: number }>()
  for (const row of rows) {
    const group = groupOf(row)
    const count = counts.get(group) ?? { devices: 0, connected: 0 }
    counts.set(group, count)
    count.devices++
    if (row.connected) count.connected++
  }
  return [...counts]
    .map(([group, count]) => ({ group, ...count }))
    .sort((a, b) => b.devices - a.devices || (a.group < b.group ? -1 : 1))
}
