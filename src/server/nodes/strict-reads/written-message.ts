// Writes the rows of a commit into a message, and reads them from it. A list that is too long becomes all rows; nothing is left out.
import type { WrittenRowsMessage } from '../../bus/messages.ts'
import type { WrittenRows } from '../../db/written-rows.ts'

/** Columns whose values are sent: caches look for these, and they hold nothing secret. */
const keyColumns = ['id', 'endpoint_id', 'room_id', 'node_id']

/** More rows of a table than this are sent as "all rows": 500 ids fill five notifications of PostgreSQL. */
const maxValues = 500

export function writtenRowsMessages(written: readonly WrittenRows[]): WrittenRowsMessage[] {
  const groups = new Map<string, { readonly message: WrittenRowsMessage; readonly values: Set<string | number> }>()
  for (const { table, org, where, columns } of written) {
    const key = keyColumns.find((column) => typeof where[column] === 'string' || typeof where[column] === 'number')
    const name = `${table} ${org} ${key} ${columns && [...columns]}`
    let group = groups.get(name)
    if (!group) {
      const message = {
        table,
        ...(org !== undefined && { org }),
        ...(key && { key }),
        ...(columns && { columns: [...columns] }),
      }
      group = { message, values: new Set() }
      groups.set(name, group)
    }
    if (key) group.values.add(where[key] as string | number)
  }
  return [...groups.values()].map(({ message, values }) => {
    if (message.key === undefined) return message
    if (values.size <= maxValues) return { ...message, values: [...values] }
    const { key: _, ...allRows } = message
    return allRows
  })
}

export function writtenRowsOf(messages: readonly WrittenRowsMessage[]): WrittenRows[] {
  return messages.flatMap(({ table, org, key, values, columns }) => {
    const rows = { table, org, ...(columns && { columns: new Set(columns) }) }
    return key !== undefined && values
      ? values.map((value) => ({ ...rows, where: { [key]: value } }))
      : [{ ...rows, where: {} }]
  })
}
