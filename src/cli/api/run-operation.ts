// Carries out an operation for its command, and prints the answer.
import { Readable } from 'node:stream'
import { type ClientOptions, request } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import { type Connected, connectToServer } from '../http/connect.ts'
import { CommandError } from '../terminal/command-error.ts'
import { confirm } from '../terminal/confirm.ts'
import { writeOutput } from '../terminal/output-file.ts'
import { printJson, printResult, type Terminal } from '../terminal/terminal.ts'
import { printEvents } from './events.ts'
import type { Input } from './input.ts'
import type { CommonOptions } from './operation-options.ts'
import { type AnswerPage, joined, pagesOf } from './pages.ts'
import { shapeText } from './shape-text.ts'
import { columnsOf, type List, listIn, pairsOf, tableOf } from './view.ts'

export async function runOperation(
  terminal: Terminal,
  operation: Operation,
  input: Input,
  options: CommonOptions,
): Promise<void> {
  const connected = connectToServer(terminal, options)
  if (operation.stream) return printEvents(terminal, connected, operation, input, options)
  if (operation.method === 'DELETE' && !options.yes) await confirmDeletion(terminal, operation, input, connected)
  const { clientOptions } = connected
  if (operation.download || options.csv) return saveFile(terminal, clientOptions, operation, input, options)
  const list = listIn(shapeText(operation.response))
  if (options.all) {
    const pages = pagesOf(terminal, clientOptions, operation, input)
    if (list && options.json) return printItems(terminal, list, pages)
    if (list) return printTables(terminal, list, pages, options)
    return print(terminal, JSON.stringify(await joined(pages)), options)
  }
  const response = await request(clientOptions, operation, input, { ifMatch: options.ifMatch })
  if (options.etag) return terminal.write(response.headers.get('etag') ?? '')
  const text = await response.text()
  if (list && !options.json) return printTables(terminal, list, [JSON.parse(text)], options)
  return print(terminal, text, options)
}

/** A person is asked before something is deleted; a script says what it wants. */
async function confirmDeletion(
  terminal: Terminal,
  { summary, params = {} }: Operation,
  input: Input,
  { connection }: Connected,
): Promise<void> {
  if (!terminal.canAsk) return
  const ids = Object.keys(params).map((name) => ` ${name} ${input[name]}`)
  await confirm(
    terminal,
    `${summary}:${ids.join(',')} of organisation ${connection.org} at ${connection.baseUrl}. Continue?`,
  )
}

/** Prints JSON as the server wrote it, with indents on a terminal, or the answer for people. */
function print(terminal: Terminal, text: string, { json }: CommonOptions): void {
  const answer = JSON.parse(text)
  if (json) printJson(terminal, terminal.isInteractive ? JSON.stringify(answer, undefined, 2) : text)
  else printResult(terminal, false, undefined, Object.keys(answer).length > 0 ? pairsOf(answer) : ['Done.'])
}

const itemsOn = (page: AnswerPage, { key }: List) => page[key] as readonly AnswerPage[]

/** One JSON document of all pages, which is never whole in memory. */
async function printItems(terminal: Terminal, list: List, pages: AsyncIterable<AnswerPage>): Promise<void> {
  let before = `{${JSON.stringify(list.key)}:[`
  let isEmpty = true
  for await (const page of pages) {
    const items = itemsOn(page, list).map((item) => JSON.stringify(item))
    if (items.length === 0) continue
    await terminal.writeRaw(before + items.join(','))
    before = ','
    isEmpty = false
  }
  await terminal.writeRaw(`${isEmpty ? before : ''}]}\n`)
}

/** The columns of the first page are those of all pages. */
async function printTables(
  terminal: Terminal,
  list: List,
  pages: AsyncIterable<AnswerPage> | readonly AnswerPage[],
  { columns }: CommonOptions,
): Promise<void> {
  let shown: readonly string[] | undefined
  for await (const page of pages) {
    const items = itemsOn(page, list)
    if (shown === undefined && items.length === 0) continue
    const isFirst = shown === undefined
    const {
      lines,
      omitted,
      columns: fitting,
    } = tableOf(items, shown ?? columns ?? columnsOf(list.item), {
      width: terminal.columns,
      isChosen: !isFirst || columns !== undefined,
    })
    shown = fitting
    printResult(terminal, false, undefined, isFirst ? lines : lines.slice(1))
    if (isFirst && omitted.length > 0) {
      terminal.writeError(`No room for ${omitted.join(', ')}. Choose with --columns, or use --json.`)
    }
  }
  if (shown === undefined) terminal.writeError('Nothing matches.')
}

async function saveFile(
  terminal: Terminal,
  clientOptions: ClientOptions,
  operation: Operation,
  input: Input,
  { csv, output }: CommonOptions,
): Promise<void> {
  if (output === undefined && operation.download && terminal.isInteractive) {
    throw new CommandError(`The answer is a file (${operation.download}). Name it with --output FILE.`)
  }
  const { body } = await request(clientOptions, operation, input, csv ? { accept: 'text/csv' } : {})
  if (!body) return
  if (output === undefined) {
    for await (const chunk of body) await terminal.writeRaw(chunk)
    return
  }
  await writeOutput(output, Readable.fromWeb(body as import('node:stream/web').ReadableStream))
}
