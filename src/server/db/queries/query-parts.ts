// Reads from the syntax tree of a query which tables it names and which pieces of SQL text it contains.
import { type CompiledQuery, IdentifierNode, OperationNodeTransformer, type RawNode, type TableNode } from 'kysely'

export interface QueryParts {
  /** Names of tables, and aliases of tables in references. Pieces of SQL text are not searched for them. */
  readonly tables: ReadonlySet<string>
  /** The SQL text that was written by hand with `sql`. A question mark stands for each value or nested piece. */
  readonly rawTexts: readonly string[]
}

export function partsOf({ query }: CompiledQuery): QueryParts {
  const collector = new PartCollector()
  collector.transformNode(query)
  return collector
}

/** Visits all nodes and changes none: Kysely's transformer is its documented way to walk a tree. */
class PartCollector extends OperationNodeTransformer implements QueryParts {
  readonly tables = new Set<string>()
  readonly rawTexts: string[] = []

  protected override transformTable(node: TableNode): TableNode {
    this.tables.add(node.table.identifier.name)
    return super.transformTable(node)
  }

  protected override transformRaw(node: RawNode): RawNode {
    this.rawTexts.push(node.sqlFragments.join('?'))
    // `sql.id()` may name a table.
    for (const parameter of node.parameters) if (IdentifierNode.is(parameter)) this.tables.add(parameter.name)
    return super.transformRaw(node)
  }
}
