// The only node of a SQLite database. The lock of the data folder keeps others away.
import type { Clock } from '../core/clock.ts'
import { programVersion, versionText } from '../core/program-files.ts'
import type { Database } from '../db/db.ts'
import { insertNode, updateAllDead, updateLeft } from './store.ts'
import { ThisNode } from './this-node.ts'

interface SingleNodeOptions {
  readonly name: string
  readonly processName: string
}

/** Takes a row. Rows of earlier starts that have not ended belong to processes that crashed. */
export async function startSingleNode(
  db: Database,
  clock: Clock,
  { name, processName }: SingleNodeOptions,
): Promise<ThisNode> {
  const at = clock.now()
  const row = await db.systemTransaction(async (on) => {
    await updateAllDead(on, { at })
    return insertNode(on, { name, process: processName, version: versionText(programVersion()), at })
  })
  if (!row) throw new Error('the database gave the new node no id')
  return new ThisNode(name, row.id)
}

/** Ends the row, and with it the presence of every device that is connected here. */
export async function leaveSingleNode(db: Database, clock: Clock, node: ThisNode): Promise<void> {
  await db.systemTransaction((on) => updateLeft(on, { id: node.id, at: clock.now() }))
}
