// Reads all pages of an answer.
import { type ClientOptions, request } from '../../client/client.ts'
import type { Operation } from '../../contract/operation.ts'
import { Progress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { Input } from './input.ts'

export type AnswerPage = Readonly<Record<string, unknown>>

export async function* pagesOf(
  terminal: Terminal,
  clientOptions: ClientOptions,
  operation: Operation,
  input: Input,
): AsyncGenerator<AnswerPage> {
  // Pages that are printed on the terminal are progress enough.
  const progress = terminal.isInteractive ? undefined : new Progress(terminal, 'Pages')
  try {
    for (let pageToken: unknown = input.pageToken; ; ) {
      const response = await request(clientOptions, operation, { ...input, pageToken }, {})
      const page = JSON.parse(await response.text()) as AnswerPage
      progress?.advance()
      yield page
      pageToken = page.nextPageToken
      if (!pageToken) return
    }
  } finally {
    progress?.end()
  }
}

/** An answer that is more than a list: the lists of its pages are joined, and the rest is that of the first page. */
export async function joined(pages: AsyncIterable<AnswerPage>): Promise<AnswerPage> {
  let whole: Record<string, unknown> = {}
  for await (const { nextPageToken: _, ...page } of pages) {
    const lists = Object.entries(page).filter(([, value]) => Array.isArray(value)) as [string, unknown[]][]
    whole = { ...page, ...whole }
    for (const [key, items] of lists) if (whole[key] !== page[key]) whole[key] = [...(whole[key] as []), ...items]
  }
  return whole
}
