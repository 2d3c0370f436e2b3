// Runs `roomkeeper audit verify` to prove that the audit log has every entry and that its chain is intact.
import { executable } from './roomkeeper.ts'
import { Subprocess } from './subprocess.ts'

/** `options` say where the database is; `expected` is a part of the command's output. */
export async function verifyAuditLog(options: readonly string[], expected = 'entries, verified'): Promise<void> {
  const output = await new Subprocess('audit verify', [executable, 'audit', 'verify', ...options]).waitForExit()
  if (!output.includes(expected)) throw new Error(`Audit log verification did not print "${expected}": ${output}`)
}
