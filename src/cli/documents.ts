// `roomkeeper openapi` and `roomkeeper messages`: print the machine-readable documents as they are committed.
import { deviceMessages } from '../contract/device/messages.ts'
import { openapi } from '../contract/openapi.ts'
import { writeOutput } from './terminal/output-file.ts'
import type { Terminal } from './terminal/terminal.ts'

const textOf = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

/** The committed document names the default address; a running server serves it with its own address. */
export const openapiText = (): string => textOf(openapi('http://127.0.0.1:8080'))
export const messagesText = (): string => textOf(deviceMessages())

const documents = { openapi: openapiText, messages: messagesText }

export async function printDocument(
  terminal: Terminal,
  name: keyof typeof documents,
  { output }: { output?: string },
): Promise<void> {
  const text = documents[name]()
  if (output === undefined) terminal.write(text.trimEnd())
  else await writeOutput(output, text)
}
