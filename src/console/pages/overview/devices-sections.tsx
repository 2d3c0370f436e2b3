// Counts devices by model and by firmware, online and offline; each number links to its devices.
import { Button, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { modelOf } from '../../../contract/device/models.ts'
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

interface DeviceRowsProps {
  readonly rows: readonly DeviceTableRow[]
}

export const DevicesByModelSection = ({ rows }: DeviceRowsProps) => (
  <CountsSection
    title="Devices by model"
    groupTitle="Model"
    rows={rows}
    groupOf={modelOfRow}
    nameOf={(model) => modelOf(model).name}
    filterOf={(model) => ({ model })}
  />
)

export const DevicesByFirmwareSection = ({ rows }: DeviceRowsProps) => (
  <CountsSection
    title="Devices by firmware"
    groupTitle="Firmware"
    rows={rows}
    groupOf={firmwareOf}
    nameOf={(firmware) => (firmware === unknownFirmware ? 'Not reported' : firmware)}
    filterOf={(firmware) => ({ firmware })}
  />
)

const modelOfRow = ({ model }: DeviceTableRow): string => model

interface CountsSectionProps extends DeviceRowsProps {
  readonly title: string
  readonly groupTitle: string
  readonly groupOf: (row: DeviceTableRow) => string
  readonly nameOf: (group: string) => string
  readonly filterOf: (group: string) => DeviceFilter
}

const maxGroupsShown = 9

function CountsSection({ title, groupTitle, rows, groupOf, nameOf, filterOf }: CountsSectionProps) {
  const groups = useMemo(() => countBy(rows, groupOf), [rows, groupOf])
  const [showsAll, all] = useDisclosure(false)
  const shown = showsAll || groups.length <= maxGroupsShown + 1 ? groups : groups.slice(0, maxGroupsShown)
  return (
    <Section title={title}>
      <Table verticalSpacing={5} horizontalSpacing={6} className={classes.counts} aria-label={title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{groupTitle}</Table.Th>
            <Table.Th>Online</Table.Th>
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
                <Count filter={{ ...filterOf(group), connected: 'yes' }} name={nameOf(group)} count={connected} />
                <span className={classes.dimmed}> of </span>
                <Count filter={filterOf(group)} name={nameOf(group)} count={devices} />
              </Table.Td>
              <Table.Td>
                <Count
                  filter={{ ...filterOf(group), connected: 'no' }}
                  name={nameOf(group)}
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
  readonly name: string
  readonly count: number
}

/** Shows "5", and "5 pad offline" to screen readers. */
function Count({ filter, name, count }: CountProps) {
  if (count === 0) return <span className={classes.dimmed}>0</span>
  const { connected } = filter
  return (
    <Link to="/devices" search={filter} className={connected === 'no' ? classes.offline : classes.number}>
      {count.toLocaleString('en-GB')}
      <VisuallyHidden>
        {' '}
        {[name, ...(isConnectedChoice(connected) ? [connectedChoices[connected]] : [])].join(' ').toLowerCase()}
      </VisuallyHidden>
    </Link>
  )
}

interface GroupCount {
  readonly group: string
  readonly devices: number
  readonly connected: number
}

/** Groups with the most devices come first. */
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
