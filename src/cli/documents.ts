// `roomkeeper openapi` and `roomkeeper messages`: print the machine-readable documents as they are committed.
import { writeFileSync } from 'node:fs'
import { deviceMessages } from '../contract/device/messages.ts'
import { openapi } from '../contract/openapi.ts'
import { StartupError } from '../server/core/failure.ts'
import type { Terminal } from './terminal/terminal.ts'

const textOf = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

/** The committed document names the default address; a running server serves it with its own address. */
export const openapiText = (): string => textOf(openapi('http://127.0.0.1:8080'))
export const messagesText = (): string => textOf(deviceMessages())

const documents = { openapi: openapiText, messages: messagesText }

export function printDocument(terminal: Terminal, name: keyof typeof documents, { output }: { output?: string }): void {
  const text = documents[name]()
  if (output === undefined) terminal.write(text.trimEnd())
  else write(output, text)
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new StartupError(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
}
