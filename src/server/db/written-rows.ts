// Derives the rows that a query writes from its syntax tree, so that caches are invalidated without manual calls.
import type { CompiledQuery, OperationNode, SelectQueryNode, UpdateQueryNode, ValuesNode, WhereNode } from 'kysely'
import { listConditionOf } from './queries/any-of.ts'

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
  rows(values: object, org: number | undefined): WrittenRows[]
}

/** A statement with a longer list of ids counts as one that writes all rows of its organisation. */
const maxListedIds = 500

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

/** Maps a column to the name of the value that it has, or to the name of a list that has its value. */
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
      let listed: Record<string, unknown>[] | undefined
      for (const [column, valueName] of entries) {
        const value = byName[valueName]
        if (!Array.isArray(value)) where[column] = value
        else if (areFewIds(value)) listed ??= value.map((id) => ({ [column]: id }))
      }
      const rows = {
        table: name,
        org: orgName === undefined ? undefined : (org ?? (byName[orgName] as number)),
        ...(columns && { columns }),
      }
      // Rows of unknown organisations empty the caches once, whichever ids they have.
      if (!listed || rows.org === undefined) return [{ ...rows, where }]
      return listed.map((key) => ({ ...rows, where: { ...where, ...key } }))
    },
  }
}

function updatedColumnsOf({ updates = [] }: UpdateQueryNode): ReadonlySet<string> | undefined {
  const names = updates.map(({ column }) => (isColumn(column) ? column.column.name : undefined))
  return names.every((name) => name !== undefined) ? new Set(names) : undefined
}

/** Ids of endpoints are strings. A change of a room is looked up in all cached endpoints, so many rooms count as all of them. */
const areFewIds = (list: readonly unknown[]) =>
  list.length <= maxListedIds && list.every((value) => typeof value === 'string')

const columnName = ({ column }: Reference): string => column.column.name
const qualifiedName = ({ table, column }: Reference): string => `${table?.table.identifier.name}.${column.column.name}`

/**
 * Collects the equalities that hold for every written row: `a = 1 and b = 2`, but nothing inside an `or`. A column of a joined table
 * counts as the column with its name, because statements join tables that they write by columns with equal names.
 */
function equalitiesOf(node: WhereNode | undefined, nameOf: (column: Reference) => string = columnName): Equalities {
  const equalities = new Map<string, string>()
  const set = (column: OperationNode, value: OperationNode) => {
    if (isReference(column) && isValue(value) && value.value instanceof Placeholder) {
      equalities.set(nameOf(column), value.value.name)
    }
  }
  const walk = (condition: OperationNode): void => {
    if (isAnd(condition)) {
      walk(condition.left)
      walk(condition.right)
    } else if (isComparison(condition) && condition.operator.operator === '=') {
      set(condition.leftOperand, condition.rightOperand)
    } else {
      const list = listConditionOf(condition)
      if (list) set(list.column, list.values)
    }
  }
  if (node) walk(node.where)
  return equalities
}

/** Nothing is known about an insert with several rows, because no column has one value. */
function insertedValues(
  columns: readonly { column: { name: string } }[],
  values: OperationNode | undefined,
): Equalities {
  if (values?.kind === 'SelectQueryNode') return selectedValues(columns, values as SelectQueryNode)
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

/** An inserted column has the value that the condition of the select gives to the column which it is copied from. */
function selectedValues(
  columns: readonly { column: { name: string } }[],
  { selections = [], where }: SelectQueryNode,
): Equalities {
  const conditions = equalitiesOf(where, qualifiedName)
  const equalities = new Map<string, string>()
  for (const [i, { selection }] of selections.entries()) {
    const column = columns[i]?.column.name
    const value = isReference(selection) ? conditions.get(qualifiedName(selection)) : undefined
    if (column !== undefined && value !== undefined) equalities.set(column, value)
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
type Reference = OperationNode & { column: Column; table?: Table }
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
