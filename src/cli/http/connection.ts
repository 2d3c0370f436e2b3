// Which server a command talks to: a context by name, the variables of the environment, or the current context.
import type { Command } from 'commander'
import { CommandError } from '../terminal/command-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { contextFileOf, readContexts, type ServerConnection } from './context-file.ts'

export const connectionVariables = { baseUrl: 'ROOMKEEPER_URL', org: 'ROOMKEEPER_ORG', key: 'ROOMKEEPER_KEY' } as const

/** The option that every command over HTTP has. */
export interface ConnectionOptions {
  readonly context?: string | undefined
}

export const addConnectionOptions = (command: Command): Command =>
  command.option(
    '--context <name>',
    'the context to use (default: ROOMKEEPER_URL, ROOMKEEPER_ORG and ROOMKEEPER_KEY, else the current context)',
  )

export function connectionOf(terminal: Terminal, { context }: ConnectionOptions): ServerConnection {
  if (context !== undefined) return contextNamed(terminal, context)
  const given = fromVariables(terminal)
  if (given) return given
  const { current } = readContexts(terminal)
  if (current !== undefined) return contextNamed(terminal, current)
  throw new CommandError(
    'No server is known. Add one with "context add NAME --url URL --org ORG", or set ROOMKEEPER_URL, ROOMKEEPER_ORG and ROOMKEEPER_KEY.',
  )
}

export function contextNamed(terminal: Terminal, name: string): ServerConnection {
  const { contexts } = readContexts(terminal)
  const found = contexts[name]
  if (found) return found
  const names = Object.keys(contexts)
  throw new CommandError(
    names.length === 0
      ? `No such context: ${name}. ${contextFileOf(terminal)} has none; add it with "context add".`
      : `No such context: ${name}. There are ${names.join(', ')}; "context add" adds another.`,
  )
}

/** Some of the three are refused: the key of one server must not be sent to another. */
function fromVariables(terminal: Terminal): ServerConnection | undefined {
  const names = Object.values(connectionVariables)
  const missing = names.filter((name) => terminal.variable(name) === undefined)
  if (missing.length === names.length) return undefined
  if (missing.length > 0) {
    throw new CommandError(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set, but ${names.filter((name) => !missing.includes(name)).join(' and ')} ${missing.length === 2 ? 'is' : 'are'}. Set all three, or choose a context with --context.`,
    )
  }
  const [url = '', org = '', key = ''] = names.map((name) => terminal.variable(name))
  return { baseUrl: parseAddress(url, connectionVariables.baseUrl), org, key }
}

/** `what` names the option or variable in the error. */
export function parseAddress(text: string, what: string): string {
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url && url.username === '' && url.search === '' && url.hash === '') return text.replace(/\/+$/, '')
  throw new CommandError(`${what} must be an address such as https://rooms.example.org.`)
}
