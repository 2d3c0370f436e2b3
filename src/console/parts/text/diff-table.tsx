// A table of the differences between two sets of values: each key with its value before and after.
import { Code, Table, Text } from '@mantine/core'
import { settingName } from '../../../contract/device/setting-names.ts'
import { isSecret, valueText } from '../settings-form/setting-values.ts'
import classes from './diff-table.module.css'

type Values = Readonly<Record<string, unknown>>

interface DiffTableProps {
  readonly before?: Values | undefined
  readonly after?: Values | undefined
}

interface Line {
  /** The full path of the key, such as config.nightMode. */
  readonly path: string
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

export function DiffTable({ before, after }: DiffTableProps) {
  const lines = linesOf(before, after)
  if (lines.length === 0) return <Text c="dimmed">No differences</Text>
  return (
    <Table className={classes.table} verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Field</Table.Th>
          <Table.Th scope="col">Before</Table.Th>
          <Table.Th scope="col">After</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {lines.map(({ path, key, before, after }) => (
          <Table.Tr key={path}>
            <Table.Th scope="row" fw={500}>
              {settingName(key)}
              <Code className={classes.machine}>{path}</Code>
            </Table.Th>
            <Table.Td className={before === undefined ? classes.absent : classes.removed}>
              {before === undefined ? 'not set' : <del>{shownValue(key, before)}</del>}
            </Table.Td>
            <Table.Td className={after === undefined ? classes.absent : classes.added}>
              {after === undefined ? 'not set' : <ins>{shownValue(key, after)}</ins>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** The number of keys that differ. */
export const differenceCount = (before: Values | undefined, after: Values | undefined): number =>
  linesOf(before, after).length

function linesOf(before: Values = {}, after: Values = {}): Line[] {
  const [a, b] = [flatten(before), flatten(after)]
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((path) => ({ path, key: path.split('.').at(-1) ?? path, before: a.get(path), after: b.get(path) }))
    .filter((line) => JSON.stringify(line.before) !== JSON.stringify(line.after) || wasChanged(line))
}

/** Passwords are masked, so equal masks at the top level stand for a changed password; inside a whole config they stand for the same one. */
const wasChanged = ({ path, before, after }: Line) => isSecret(path) && before !== undefined && before === after

/** Flattens nested objects to paths, so that their values are compared one by one; null counts as no value. */
function flatten(values: Values, path = ''): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [inner, innerValue] of flatten(value as Values, `${path}${key}.`)) found.set(inner, innerValue)
    } else found.set(path + key, value ?? undefined)
  }
  return found
}

function shownValue(key: string, value: unknown): string {
  if (!Array.isArray(value)) return valueText(key, value)
  return value.length === 0 ? 'none' : value.map((one) => valueText(key, one)).join(', ')
}
