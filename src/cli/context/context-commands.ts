// `roomkeeper context add|use|list|show|remove`.
import { makeClient } from '../../client/client.ts'
import type { ResponseOf } from '../../contract/operation.ts'
import type { Operations } from '../../contract/operations.ts'
import { clientOptionsOf } from '../http/connect.ts'
import { connectionOf, connectionVariables, contextNamed, parseAddress } from '../http/connection.ts'
import { contextFileOf, readContexts, type ServerConnection, writeContexts } from '../http/context-file.ts'
import { CommandError } from '../terminal/command-error.ts'
import { printResult, type Terminal } from '../terminal/terminal.ts'
import { textTable } from '../terminal/text-table.ts'

interface JsonOption {
  readonly json?: boolean
}

export async function contextAdd(
  terminal: Terminal,
  name: string,
  { url, org, use }: { readonly url: string; readonly org: string; readonly use: boolean },
): Promise<void> {
  if (!/^[\w.-]{1,100}$/.test(name)) {
    throw new CommandError('The name of a context consists of letters, digits, dots, hyphens and underscores.')
  }
  const baseUrl = parseAddress(url, '--url')
  const connection = { baseUrl, org, key: await readKey(terminal) }
  if (isOpenToOthers(baseUrl)) {
    terminal.writeError('Warning: http:// sends the key without encryption. Use https:// if the server has it.')
  }
  const { body: me } = await makeClient(clientOptionsOf(terminal, connection)).meGet()
  const { current, contexts } = readContexts(terminal)
  const isCurrent = use || current === undefined
  writeContexts(terminal, { current: isCurrent ? name : current, contexts: { ...contexts, [name]: connection } })
  printResult(terminal, false, undefined, [
    `Added ${name}: ${rightsText(me)}.`,
    isCurrent ? 'It is the current context.' : `Use it with --context ${name}, or "context use ${name}".`,
  ])
}

export function contextUse(terminal: Terminal, name: string): void {
  contextNamed(terminal, name)
  writeContexts(terminal, { ...readContexts(terminal), current: name })
  terminal.write(`The current context is ${name}.`)
}

export function contextList(terminal: Terminal, { json }: JsonOption): void {
  const { current, contexts } = readContexts(terminal)
  const list = Object.entries(contexts).map(([name, context]) => ({
    name,
    isCurrent: name === current,
    ...shown(context),
  }))
  const rows = list.map(({ name, isCurrent, url, org, key }) => [isCurrent ? '*' : '', name, url, org, key])
  printResult(terminal, json, list, textTable([['', 'NAME', 'ADDRESS', 'ORGANISATION', 'KEY'], ...rows]))
}

export function contextShow(terminal: Terminal, context: string | undefined, { json }: JsonOption): void {
  const found = shown(connectionOf(terminal, { context }))
  printResult(
    terminal,
    json,
    found,
    textTable([
      ['address', found.url],
      ['organisation', found.org],
      ['key', found.key],
    ]),
  )
}

export function contextRemove(terminal: Terminal, name: string): void {
  contextNamed(terminal, name)
  const { current, contexts } = readContexts(terminal)
  const rest = Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== name))
  writeContexts(terminal, { current: current === name ? undefined : current, contexts: rest })
  terminal.write(`Removed ${name} from ${contextFileOf(terminal)}.`)
}

async function readKey(terminal: Terminal): Promise<string> {
  const variable = terminal.variable(connectionVariables.key)
  if (variable !== undefined) return variable
  const typed = terminal.canAsk ? await terminal.ask('API key: ', { isSecret: true }) : await firstLine(terminal)
  const key = typed.trim()
  if (key !== '') return key
  throw new CommandError('There is no key. Type it, give it on standard input, or set ROOMKEEPER_KEY.')
}

async function firstLine(terminal: Terminal): Promise<string> {
  let text = ''
  for await (const chunk of terminal.readInput()) {
    text += new TextDecoder().decode(chunk)
    if (text.includes('\n') || text.length > 1000) break
  }
  return text.split('\n')[0] ?? ''
}

/** The key itself is never shown: this part is in the list of keys too. */
const shown = ({ baseUrl, org, key }: ServerConnection) => ({ url: baseUrl, org, key: `${key.slice(0, 9)}…` })

const isOpenToOthers = (baseUrl: string): boolean => {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}

function rightsText({
  actor,
  role,
  scopes,
  manage,
  allRegions,
  regionIds,
  org,
}: ResponseOf<Operations['meGet']>): string {
  const who = actor.type === 'KEY' ? `the key ${actor.name}` : `${actor.name}${role === undefined ? '' : ` (${role})`}`
  const rights = [...scopes, ...(manage ? ['manage'] : [])].join(', ') || 'do nothing'
  const regions = allRegions
    ? 'all regions'
    : `${regionIds.length === 1 ? 'region' : 'regions'} ${regionIds.join(', ') || 'none'}`
  return `${who} may ${rights} in ${regions} of ${org.name}`
}
