// `roomkeeper export` and `roomkeeper document-schema`.
import { stringify } from 'yaml'
import { readOrganisation } from '../../apply/read-organisation.ts'
import { documentSchema, type OrganisationDocument } from '../../plan/document.ts'
import { documentOf } from '../../plan/document-of.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import { checkOutput, writeOutput } from '../terminal/output-file.ts'
import type { Terminal } from '../terminal/terminal.ts'

interface ExportOptions extends ConnectionOptions {
  readonly output?: string
  readonly json?: boolean
}

export async function exportCommand(terminal: Terminal, options: ExportOptions): Promise<void> {
  const { client, connection } = connectToServer(terminal, options)
  const { output, json = output?.endsWith('.json') } = options
  if (output !== undefined) checkOutput(output)
  const snapshot = await readOrganisation(client, undefined)
  if (!snapshot.seesAllRegions) {
    terminal.writeError(
      'The key is limited to regions, so the document has only what the key sees. With --prune, a key that sees more would delete the rest.',
    )
  }
  const schemaUrl = `${connection.baseUrl}/organisation.schema.json`
  const document = documentOf(snapshot, schemaUrl)
  const text = json ? `${JSON.stringify(document, undefined, 2)}\n` : yamlText(document, schemaUrl)
  if (output === undefined) await terminal.writeRaw(text)
  else await writeOutput(output, text)
}

/** Many editors find the schema of a YAML file by this comment only, and not by the key `$schema`. */
const yamlText = (document: OrganisationDocument, schemaUrl: string): string =>
  `# yaml-language-server: $schema=${schemaUrl}\n${stringify(document, { lineWidth: 0 })}`

export const schemaCommand = (terminal: Terminal): void =>
  terminal.write(JSON.stringify(documentSchema(), undefined, 2))
