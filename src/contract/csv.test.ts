// Lines of CSV: quoting as in RFC 4180, and no cell that a spreadsheet runs as a formula.
import { expect, test } from 'vitest'
import { csvChunks, csvRow } from './csv.ts'

test.each([
  [['a', '', 'b c'], 'a,,b c'],
  [['a,b', 'say "hi"', 'two\r\nlines'], '"a,b","say ""hi""","two\r\nlines"'],
  [['=1+1', '+47 1', '-x', '@SUM(A1)'], "'=1+1,'+47 1,'-x,'@SUM(A1)"],
  [['\tx', '\rx'], `'\tx,"'\rx"`],
  [['=HYPERLINK("x")'], `"'=HYPERLINK(""x"")"`],
  [['\u202e=1+1', 'a\u202eb', '\n=1', '＝1+1'], `'=1+1,ab,"'\n=1",'＝1+1`],
  [['-0.5', '-12', '3.25'], '-0.5,-12,3.25'],
  [['-1+1', '-1,5'], `'-1+1,"'-1,5"`],
])('%j is written as %j', (cells, line) => {
  expect(csvRow(cells)).toBe(`${line}\r\n`)
})

test('lines are gathered into pieces, which together are the header and all lines in order', async () => {
  async function* batches() {
    yield [1, 2]
    yield []
    yield [3]
  }
  const line = (item: number) => csvRow([String(item).repeat(40_000)])
  const chunks = await Array.fromAsync(csvChunks(csvRow(['id']), batches(), line))
  expect(chunks).toEqual([`id\r\n${line(1)}${line(2)}`, line(3)])
  expect(await Array.fromAsync(csvChunks(csvRow(['id']), (async function* () {})(), line))).toEqual(['id\r\n'])
})

test('a reader who has gone is noticed after a few batches, also if these have no lines', async () => {
  let read = 0
  async function* empty(): AsyncGenerator<number[]> {
    for (; read < 1000; read++) yield []
  }
  for await (const _ of csvChunks(csvRow(['id']), empty(), String)) break
  expect(read).toBeLessThan(20)
})
