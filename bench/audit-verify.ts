// What a bench wrote is in the audit log, and the log is whole: `roomkeeper audit verify` says so.
import { fileURLToPath } from 'node:url'
import { Child } from './child.ts'

const bin = fileURLToPath(new URL('../bin/roomkeeper.js', import.meta.url))

/** `options` say where the database is; `words` are expected in what is said. */
export async function expectChain(options: readonly string[], words = 'entries, verified'): Promise<void> {
  const said = await new Child('audit verify', [bin, 'audit', 'verify', ...options]).output()
  if (!said.includes(words)) throw new Error(`the audit log is not what was written: ${said}`)
}
