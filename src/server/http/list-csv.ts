// Answers a list as CSV: all pages of its JSON, with the filters of the request. [contract 6.csv]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { csvRow } from '../../contract/csv.ts'
import { addFieldNames, type CsvColumn, type CsvList, fieldColumnsOf } from '../../contract/csv-list.ts'
import { PagedList, ReadyAnswer, type StreamedAnswer } from '../context/answers.ts'
import { csvAnswer } from '../context/csv-answer.ts'

type Item = Readonly<Record<string, unknown>>
type Query = Readonly<Record<string, unknown>>
/** A list as its rule answers it: an object with the items, or the JSON of one. */
type Page = Readonly<Record<string, unknown>> | ReadyAnswer

/** Pages are short, because the rule of a list makes one in a turn of the event loop. */
const itemsPerPage = 200
/** Items that are written in one turn. */
const itemsPerTurn = 250

/** `read` is the rule of the list. The first page is read before the answer begins, so an error has its status. */
export async function listAsCsv(
  list: CsvList,
  { bom, pageToken: _, pageSize: __, ...filters }: Query,
  read: (query: Query) => unknown,
): Promise<StreamedAnswer> {
  const pageOf = async (pageToken?: string) =>
    (await read({ ...filters, pageSize: itemsPerPage, ...(pageToken && { pageToken }) })) as Page
  const first = await pageOf()
  const pages = pagesFrom(first, pageOf)
  const withFields = first instanceof PagedList && first.readFields ? pagesFrom(first.readFields, pageOf) : pages
  const columns = [...list.columns, ...(list.hasFields ? await fieldColumns(list, withFields) : [])]
  return csvAnswer(
    { bom: bom === true },
    {
      name: list.name,
      header: csvRow(columns.map(({ name }) => name)),
      batches: allItems(list, pages),
      lineOf: (item) => csvRow(columns.map(({ textOf }) => textOf(item))),
    },
  )
}

type ReadPages = () => AsyncIterable<Page>

function pagesFrom(first: Page | PagedList, pageOf: (pageToken: string) => Promise<Page>): ReadPages {
  if (first instanceof PagedList) return () => first.read() as AsyncIterable<Page>
  return async function* () {
    for (let page = first; ; ) {
      yield page
      const token = page instanceof ReadyAnswer ? '' : page.nextPageToken
      if (typeof token !== 'string' || token === '') return
      page = await pageOf(token)
    }
  }
}

/** The items of all pages, in pieces with a turn of the event loop between two. */
async function* allItems(list: CsvList, pages: ReadPages) {
  for await (const page of pages()) {
    for (const items of itemsIn(list, page)) {
      yield items
      await nextTurn()
    }
  }
}

async function fieldColumns(list: CsvList, pages: ReadPages): Promise<readonly CsvColumn[]> {
  const names = new Set<string>()
  for await (const items of allItems(list, pages)) addFieldNames(names, items)
  return fieldColumnsOf(names)
}

/** The items of a page, in pieces that are quickly written. The buffers of a long answer are such pieces: each has whole items. */
function* itemsIn({ key }: CsvList, page: Page): Generator<readonly Item[]> {
  if (page instanceof ReadyAnswer && typeof page.body !== 'string') {
    for (const piece of page.body.slice(1, -1)) yield JSON.parse(`[${piece.toString().replace(/^,/, '')}]`)
    return
  }
  const list = page instanceof ReadyAnswer ? JSON.parse(String(page.body)) : page
  const items: readonly Item[] = list[key]
  for (let at = 0; at < items.length; at += itemsPerTurn) yield items.slice(at, at + itemsPerTurn)
}
