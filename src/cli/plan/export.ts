// `roomkeeper export` and `roomkeeper document-schema`.
import { writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { readOrganisation } from '../../apply/read-organisation.ts'
import { documentSchema } from '../../plan/document.ts'
import { documentOf } from '../../plan/document-of.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import { CommandError } from '../terminal/command-error.ts'
import type { Terminal } from '../terminal/terminal.ts'

interface ExportOptions extends ConnectionOptions {
  readonly output?: string
  readonly json?: boolean
}

export async function exportCommand(terminal: Terminal, options: ExportOptions): Promise<void> {
  const { client, connection } = connectToServer(terminal, options)
  const snapshot = await readOrganisation(client, undefined)
  const document = documentOf(snapshot, `${connection.baseUrl}/organisation.schema.json`)
  const { output, json = output?.endsWith('.json') } = options
  const text = json ? `${JSON.stringify(document, undefined, 2)}\n` : stringify(document, { lineWidth: 0 })
  if (output === undefined) return terminal.writeRaw(text)
  try {
    writeFileSync(output, text)
  } catch (error) {
    throw new CommandError(`Cannot write ${output} (${(error as NodeJS.ErrnoException).code}).`)
  }
}

export const schemaCommand = (terminal: Terminal): void =>
  terminal.write(JSON.stringify(documentSchema(), undefined, 2))
