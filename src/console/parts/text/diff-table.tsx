// A table of the differences between two sets of values: each key with its value before and after.
import { Code, Text } from '@mantine/core'
import { settingName } from '../../../contract/device/setting-names.ts'
import { isSecret, valueText } from '../settings-form/setting-values.ts'
import type { Column } from '../table/column.ts'
import { DataTable } from '../table/data-table.tsx'
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
  return <DataTable label="Differences" rows={lines} columns={columns} keyOf={({ path }) => path} />
}

const columns: readonly Column<Line>[] = [
  {
    id: 'field',
    title: 'Field',
    width: '34%',
    breaksWords: true,
    cell: ({ key, path }) => (
      <>
        {settingName(key)}
        <Code className={classes.machine}>{path}</Code>
      </>
    ),
  },
  {
    id: 'before',
    title: 'Before',
    width: '33%',
    breaksWords: true,
    cell: ({ key, before }) =>
      before === undefined ? (
        <span className={classes.absent}>not set</span>
      ) : (
        <del className={classes.removed}>{shownValue(key, before)}</del>
      ),
  },
  {
    id: 'after',
    title: 'After',
    width: '33%',
    breaksWords: true,
    cell: ({ key, after }) =>
      after === undefined ? (
        <span className={classes.absent}>not set</span>
      ) : (
        <ins className={classes.added}>{shownValue(key, after)}</ins>
      ),
  },
]

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
