// Derives the rows that a query writes from its syntax tree, so that caches are invalidated without manual calls.
import type { CompiledQuery, OperationNode, UpdateQueryNode, ValuesNode, WhereNode } from 'kysely'

/** Stands in a query for a value that the caller passes. */
export class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Rows that may have changed: those of a table, of an organisation in it, or those where columns have these values. */
export interface WrittenRows {
  readonly table: string
  /** Undefined means any organisation. */
  readonly org: number | undefined
  readonly where: Readonly<Record<string, unknown>>
  /** The columns that an update sets. Absent for an insert or a delete, and where any column may have changed. */
  readonly columns?: ReadonlySet<string>
}

/** The table that a statement writes to, and the rows that it writes with given values. */
export interface WriteTarget {
  readonly table: string
  rows(values: object, org: number | undefined): WrittenRows
}

/** Returns undefined for a query that only reads. */
export function writeTargetOf({ query }: CompiledQuery): WriteTarget | undefined {
  switch (query.kind) {
    case 'InsertQueryNode':
      return writeTarget(query.into, insertedValues(query.columns ?? [], query.values))
    case 'UpdateQueryNode':
      return writeTarget(query.table, equalitiesOf(query.where), updatedColumnsOf(query))
    case 'DeleteQueryNode':
      return writeTarget(query.from.froms[0], equalitiesOf(query.where))
    default:
      return undefined
  }
}

/** Maps a column to the name of the value that it has. */
type Equalities = ReadonlyMap<string, string>

function writeTarget(
  node: OperationNode | undefined,
  equalities: Equalities,
  columns?: ReadonlySet<string>,
): WriteTarget {
  const table = node && isAlias(node) ? node.node : node
  if (!table || !isTable(table)) throw new Error('a query writes to something that is no table')
  const name = table.table.identifier.name
  const entries = [...equalities].filter(([column]) => column !== 'org')
  const orgName = equalities.get('org')
  return {
    table: name,
    rows(values, org) {
      const byName = values as Record<string, unknown>
      const where: Record<string, unknown> = {}
      for (const [column, value] of entries) where[column] = byName[value]
      const rows = { table: name, org: orgName === undefined ? undefined : (org ?? (byName[orgName] as number)), where }
      return columns ? { ...rows, columns } : rows
    },
  }
}

function updatedColumnsOf({ updates = [] }: UpdateQueryNode): ReadonlySet<string> | undefined {
  const names = updates.map(({ column }) => (isColumn(column) ? column.column.name : undefined))
  return names.every((name) => name !== undefined) ? new Set(names) : undefined
}

/** Collects the equalities that hold for every written row: `a = 1 and b = 2`, but nothing inside an `or`. */
function equalitiesOf(node: WhereNode | undefined): Equalities {
  const equalities = new Map<string, string>()
  const walk = (condition: OperationNode): void => {
    if (isAnd(condition)) {
      walk(condition.left)
      walk(condition.right)
    } else if (isComparison(condition) && condition.operator.operator === '=') {
      const { leftOperand: left, rightOperand: right } = condition
      if (isReference(left) && isValue(right) && right.value instanceof Placeholder) {
        equalities.set(left.column.column.name, right.value.name)
      }
    }
  }
  if (node) walk(node.where)
  return equalities
}

/** Only single-row inserts are tracked: with several rows no column has one value. */
function insertedValues(
  columns: readonly { column: { name: string } }[],
  values: OperationNode | undefined,
): Equalities {
  const rows = values?.kind === 'ValuesNode' ? (values as ValuesNode).values : []
  const equalities = new Map<string, string>()
  if (rows.length !== 1) return equalities
  for (const [i, value] of (rows[0]?.values ?? []).entries()) {
    const column = columns[i]?.column.name
    const plain = isNode(value) ? (isValue(value) ? value.value : undefined) : value
    if (column !== undefined && plain instanceof Placeholder) equalities.set(column, plain.name)
  }
  return equalities
}

type Table = OperationNode & { table: { identifier: { name: string } } }
type Alias = OperationNode & { node: OperationNode }
type And = OperationNode & { left: OperationNode; right: OperationNode }
type Comparison = OperationNode & {
  leftOperand: OperationNode
  operator: { operator?: string }
  rightOperand: OperationNode
}
type Column = OperationNode & { column: { name: string } }
type Reference = OperationNode & { column: Column }
type Value = OperationNode & { value: unknown }

const isNode = (value: unknown): value is OperationNode =>
  typeof value === 'object' && value !== null && 'kind' in value
const isTable = (node: OperationNode): node is Table => node.kind === 'TableNode'
const isAlias = (node: OperationNode): node is Alias => node.kind === 'AliasNode'
const isAnd = (node: OperationNode): node is And => node.kind === 'AndNode'
const isComparison = (node: OperationNode): node is Comparison => node.kind === 'BinaryOperationNode'
const isColumn = (node: OperationNode): node is Column => node.kind === 'ColumnNode'
const isReference = (node: OperationNode): node is Reference => node.kind === 'ReferenceNode'
const isValue = (node: OperationNode): node is Value => node.kind === 'ValueNode'
