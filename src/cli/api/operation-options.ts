// The arguments and options of an operation's command, all derived from the table of operations.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Operation } from '../../contract/operation.ts'
import { addConnectionOptions, type ConnectionOptions } from '../http/connection.ts'
import { kebab } from './command-name.ts'
import { helpOf, isList, parseItems, parseValue, placeholderOf, type ShapeText, shapeText } from './shape-text.ts'
import { listIn } from './view.ts'

/** The options that do not come from the parameters of the operation. */
export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean
  readonly csv?: boolean
  readonly all?: boolean
  readonly watch?: boolean
  readonly etag?: boolean
  readonly yes?: boolean
  readonly columns?: readonly string[]
  readonly file?: string
  readonly output?: string
  readonly ifMatch?: string
}

/** An option that is a parameter of the query, or a key of the body. */
export interface Field {
  readonly option: Option
  readonly key: string
  readonly isInBody: boolean
}

/** The body is a list; its option gives an item of it. */
export const listBodyKey = 'item'

/** The names of the path's parameters, in its order. */
export const parametersOf = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

export function addOptions(command: Command, operation: Operation): readonly Field[] {
  for (const name of parametersOf(operation)) {
    command.argument(`<${kebab(name)}>`, helpOf(shapeText(operation.params?.[name] ?? {})))
  }
  const fields = [...queryFields(operation), ...bodyFields(operation)]
  for (const { option } of fields) command.addOption(option)
  addCommonOptions(command, operation)
  return fields
}

const queryFields = ({ query = {} }: Operation): Field[] =>
  Object.entries(query).map(([key, shape]) => {
    const text = shapeText(shape)
    // The server checks the values of a query, and its errors say more.
    const option = new Option(flagOf(key, text), helpWith(key, text, text.required === true))
    if (isList(text)) option.argParser((value: string, before: readonly string[] = []) => [...before, value])
    return { option, key, isInBody: false }
  })

function bodyFields({ body }: Operation): Field[] {
  if (!body) return []
  const shape = shapeText(body)
  const required = Array.isArray(shape.required) ? shape.required : []
  const properties = isList(shape) ? { [listBodyKey]: shape } : (shape.properties ?? {})
  return Object.entries(properties).map(([key, text]) => {
    const option = new Option(flagOf(key, text), helpWith(key, text, required.includes(key) || isList(shape)))
    if (isList(text)) option.argParser(collected(text))
    else option.argParser(checked((value) => parseValue(text, value)))
    return { option, key, isInBody: true }
  })
}

const flagOf = (key: string, shape: ShapeText): string => `--${kebab(key)} <${placeholderOf(shape)}>`
const helpWith = (key: string, shape: ShapeText, isRequired: boolean): string =>
  [helpOf(shape) || `The key ${key}.`, isRequired && '(required)'].filter(Boolean).join(' ')

const collected = (shape: ShapeText) => (text: string, before?: readonly unknown[] | null) => {
  const items = checked(() => parseItems(shape, text))(text)
  return items && [...(before ?? []), ...items]
}

/** Commander names the option in front of the message. */
const checked =
  <T>(parse: (text: string) => T) =>
  (text: string): T => {
    try {
      return parse(text)
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }

function addCommonOptions(command: Command, operation: Operation): void {
  const { method, query = {}, body, csv, download, stream, ifMatch, versioned, response } = operation
  const add = (condition: unknown, flags: string, help: string, parse?: (text: string) => unknown) => {
    if (condition) command.option(flags, help, parse as (text: string) => string)
  }
  add(
    body,
    '--file <file>',
    'read the body as JSON from a file, or with - from standard input; options override its keys',
  )
  add(query.pageToken, '--all', 'read all pages')
  add(stream, '--watch', 'connect again when the connection ends, until the command is interrupted')
  add(!download, '--json', stream ? 'print each event as a line of JSON' : 'print the answer as JSON')
  add(csv, '--csv', 'print CSV')
  add(listIn(shapeText(response)), '--columns <names>', 'the columns to show, such as id,location.name', (text) =>
    text.split(','),
  )
  add(csv || download, '--output <file>', 'write the file or the CSV here instead of to standard output')
  add(versioned, '--etag', 'print the ETag of the answer only, for --if-match')
  add(ifMatch, '--if-match <etag>', 'write only if this is still the ETag of the resource')
  add(method === 'DELETE', '--yes', 'do not ask; without a terminal, the command never asks')
  addConnectionOptions(command)
}
