// The answer of every operation that answers with CSV.
import { byteOrderMark, csvChunks } from '../../contract/csv.ts'
import { StreamedAnswer } from './answers.ts'

interface CsvContent<T> {
  /** The name of the file, without its ending. */
  readonly name: string
  /** The line with the names of the columns. */
  readonly header: string
  readonly batches: AsyncIterable<Iterable<T>>
  readonly lineOf: (item: T) => string
}

export const csvAnswer = <T>(
  { bom = false }: { readonly bom?: boolean | undefined },
  { name, header, batches, lineOf }: CsvContent<T>,
): StreamedAnswer =>
  new StreamedAnswer(
    'text/csv; charset=utf-8',
    `${name}.csv`,
    csvChunks(bom ? byteOrderMark + header : header, batches, lineOf),
  )
