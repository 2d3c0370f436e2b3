// The input of an operation, from the arguments, the options and the file of its command.
import type { Command } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { CommandError } from '../terminal/command-error.ts'
import { readInputFile } from '../terminal/input-file.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type Field, listBodyKey, parametersOf } from './operation-options.ts'
import { isList, shapeText } from './shape-text.ts'

export type Input = Record<string, unknown>

export async function inputOf(
  terminal: Terminal,
  operation: Operation,
  fields: readonly Field[],
  command: Command,
): Promise<Input> {
  const input: Input = {}
  for (const [index, name] of parametersOf(operation).entries()) input[name] = command.args[index]
  const body: Input = {}
  for (const { option, key, isInBody } of fields) {
    const value = command.getOptionValue(option.attributeName())
    if (value === undefined) continue
    if (isInBody) body[key] = secretIn(terminal, key, value)
    else input[key] = value
  }
  if (!operation.body) return input
  const file: string | undefined = command.getOptionValue('file')
  const read = file === undefined ? undefined : await readJson(terminal, file)
  return { ...input, body: isList(shapeText(operation.body)) ? (body[listBodyKey] ?? read) : merged(read, body, file) }
}

/** Options override the keys of the file. A file that is not an object is sent as it is: the server says what is wrong. */
function merged(read: unknown, options: Input, file = ''): unknown {
  if (read === undefined) return options
  if (Object.keys(options).length === 0) return read
  if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { ...read, ...options }
  throw new CommandError(`${file} must be a JSON object if options give keys of the body.`)
}

const secretName = /secret|password|routingKey/i

/** Other users of the machine can see arguments, and the history of a shell keeps them: a secret can be given by a variable. */
function secretIn(terminal: Terminal, key: string, value: unknown): unknown {
  const [, name] = (secretName.test(key) && typeof value === 'string' && /^env:(\w+)$/.exec(value)) || []
  if (name === undefined) return value
  const secret = terminal.variable(name)
  if (secret === undefined) throw new CommandError(`The variable ${name} is not set. Set it in the environment.`)
  return secret
}

export const hasSecretField = (fields: readonly Field[]): boolean =>
  fields.some(({ key, isInBody }) => isInBody && secretName.test(key))

async function readJson(terminal: Terminal, file: string): Promise<unknown> {
  const text = file === '-' ? await readAll(terminal) : readText(file)
  try {
    // Editors of Windows begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw new CommandError(`${file === '-' ? 'Standard input' : file} is not JSON: ${(error as Error).message}.`)
  }
}

/** More than any operation takes; the server says how much its operation takes. */
const maxFileBytes = 4 * 1024 * 1024

const readText = (file: string): string =>
  readInputFile(file, (bytes) => {
    if (bytes > maxFileBytes) throw new CommandError(`${file} is too large for the body of a request.`)
  }).toString('utf8')

async function readAll(terminal: Terminal): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of terminal.readInput()) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
