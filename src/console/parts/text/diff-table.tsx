// What changes: every key that differs, with its value before and after, readable without colour too.
import { Code, Table, Text } from '@mantine/core'
import { settingName } from '../settings-form/setting-sections.ts'
import { isSecret, valueText } from '../settings-form/setting-values.ts'
import classes from './diff-table.module.css'

type Values = Readonly<Record<string, unknown>>

interface DiffTableProps {
  readonly before?: Values | undefined
  readonly after?: Values | undefined
}

interface Line {
  /** With what it is inside of: config.nightMode */
  readonly path: string
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

export function DiffTable({ before, after }: DiffTableProps) {
  const lines = linesOf(before, after)
  if (lines.length === 0) return <Text c="dimmed">Nothing differs.</Text>
  return (
    <Table className={classes.table} verticalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">What</Table.Th>
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
              {before === undefined ? 'unset' : <del>{shownValue(key, before)}</del>}
            </Table.Td>
            <Table.Td className={after === undefined ? classes.absent : classes.added}>
              {after === undefined ? 'unset' : <ins>{shownValue(key, after)}</ins>}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** How many keys a diff of the two has. */
export const differenceCount = (before: Values | undefined, after: Values | undefined): number =>
  linesOf(before, after).length

function linesOf(before: Values = {}, after: Values = {}): Line[] {
  const [a, b] = [flatten(before), flatten(after)]
  return [...new Set([...a.keys(), ...b.keys()])]
    .map((path) => ({ path, key: path.split('.').at(-1) ?? path, before: a.get(path), after: b.get(path) }))
    .filter((line) => JSON.stringify(line.before) !== JSON.stringify(line.after) || wasChanged(line))
}

/** Of a config's differences two passwords look alike, and are not; inside of a whole config those that look alike are. */
const wasChanged = ({ path, before, after }: Line) => isSecret(path) && before !== undefined && before === after

/** What is inside of something is compared by itself; null is no value. */
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
