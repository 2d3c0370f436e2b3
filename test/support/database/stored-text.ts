// Reads everything that a database stores as one text, to search it for secrets.
import { listTables } from '../../../src/server/db/copy/catalog.ts'
import { readBatches } from '../../../src/server/db/copy/table-rows.ts'
import { withoutTransaction } from '../../../src/server/db/copy/transaction-side.ts'
import type { Harness } from '../harness.ts'

export async function storedText({ services }: Pick<Harness, 'services'>): Promise<string> {
  const side = withoutTransaction(services.db)
  const texts: string[] = []
  for (const table of await listTables(side, side.engine)) {
    for await (const rows of readBatches(side, table)) {
      texts.push(
        JSON.stringify(rows, (_, value) => (value?.type === 'Buffer' ? Buffer.from(value).toString('latin1') : value)),
      )
    }
  }
  return texts.join('')
}
