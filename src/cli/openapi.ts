// `roomkeeper openapi`: the document as it is committed and served.
import { writeFileSync } from 'node:fs'
import { openapi } from '../contract/openapi.ts'
import { Refusal } from '../platform/failure.ts'
import type { Terminal } from './terminal.ts'

/** The committed document names the default address; a running server puts its own in. */
export const openapiText = (): string => `${JSON.stringify(openapi('http://127.0.0.1:8080'), null, 2)}\n`

export function writeOpenapi(terminal: Terminal, { output }: { output?: string }): void {
  if (output === undefined) terminal.say(openapiText().trimEnd())
  else write(output, openapiText())
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new Refusal(`Cannot write ${file} (${(error as NodeJS.ErrnoException).code}).`)
  }
}
