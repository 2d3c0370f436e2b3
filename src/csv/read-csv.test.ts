// Reading of CSV files: separators, encodings, quotes, limits, and where a broken file is broken.
import { expect, test } from 'vitest'
import { importableRow, withoutApostrophe } from '../contract/csv.ts'
import { CsvError, columnLetters } from './mistakes.ts'
import { maxFileBytes, readCsv } from './read-csv.ts'

const known = (header: string) => ['room', 'location', 'capacity'].includes(header)
const bytes = (text: string) => new TextEncoder().encode(text)
const read = (file: string | Uint8Array) => readCsv(typeof file === 'string' ? bytes(file) : file, known)
const cells = (file: string | Uint8Array) => {
  const { header, rows } = read(file)
  return [header, ...rows.map((row) => row.cells)]
}

function mistakeOf(file: string | Uint8Array): string {
  try {
    read(file)
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
  throw new Error('the file was read without a mistake')
}

const utf16 = (text: string, isLittleEndian: boolean) => {
  const view = new DataView(new ArrayBuffer(text.length * 2))
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), isLittleEndian)
  return new Uint8Array(view.buffer)
}

const rooms = [
  ['room', 'capacity'],
  ['Fjord, "big"', '8'],
  ['Ås\nnorth', '12'],
]

test.each([',', ';', '\t'])('the separator %j is found by the headers that are known', (separator) => {
  const text = rooms.map((row) => importableRow(row, separator)).join('')
  expect(cells(text)).toEqual(rooms)
  expect(read(text).separator).toBe(separator)
  expect(cells(`sep=${separator}\r\n${text}`)).toEqual(rooms)
})

test('a separator that stands more often in the header than the real one is not taken for it', () => {
  expect(read('room;"capacity, seats, chairs, people";location\nA;1;B\n').separator).toBe(';')
})

test.each([
  ['UTF-8', (text: string) => bytes(text), false],
  ['UTF-8 with a byte order mark', (text: string) => bytes(`\ufeff${text}`), true],
  ['UTF-16, little-endian', (text: string) => utf16(`\ufeff${text}`, true), true],
  ['UTF-16, big-endian', (text: string) => utf16(`\ufeff${text}`, false), true],
  ['UTF-16 without a mark', (text: string) => utf16(text, true), true],
])('%s is read', (_, encode, hasByteOrderMark) => {
  const file = encode(rooms.map((row) => importableRow(row, ',')).join(''))
  expect(cells(file)).toEqual(rooms)
  expect(read(file).hasByteOrderMark).toBe(hasByteOrderMark)
})

test('line breaks of all systems end a row, empty rows count, and short rows are filled up', () => {
  const { rows } = read('room,capacity\r\n\r\nA,1\nB\rC,3,,,\n')
  expect(rows).toEqual([
    { number: 3, cells: ['A', '1'] },
    { number: 4, cells: ['B', ''] },
    { number: 5, cells: ['C', '3'] },
  ])
})

test.each([
  ['', 'The file is empty. Its first row must name the columns.'],
  ['\n,,\n', 'The file is empty. Its first row must name the columns.'],
  ['room\nA\n"B', 'Row 3, column A: A quotation mark opens the cell and none closes it. Add one at its end.'],
  [
    'room,x\n"A","B"C\n',
    'Row 2, column B: Text follows the closing quotation mark. Write a quotation mark inside a cell twice: "".',
  ],
  [
    new Uint8Array([...bytes('room\nA\n'), 0xc5, 0x73]),
    'Row 3, column A: The text is not UTF-8. In Excel, save the file as “CSV UTF-8”.',
  ],
  [
    utf16('\ufeffroom\nA\n', true).subarray(0, -1),
    'Row 2, column A: The text is not UTF-8. In Excel, save the file as “CSV UTF-8”.',
  ],
  [
    `room\n${'x'.repeat(10_001)}`,
    'Row 2, column A: The cell has 10001 characters. A cell has at most 10000; look for a missing quotation mark.',
  ],
  [`${','.repeat(1_000_000)}\n`, 'Row 1, column GS: The row has 1000001 cells. A row has at most 200.'],
  [`room\n${'A\n'.repeat(20_001)}`, 'Row 20002: A file has at most 20000 rows. Split it.'],
])('a broken file is refused with its row and column (%#)', (file, message) => {
  expect(mistakeOf(file)).toBe(message)
})

test('a file of 100 MB is refused by its size, and a file at the limit takes little memory however it is broken', () => {
  expect(mistakeOf(new Uint8Array(100_000_000))).toBe('The file has 96 MiB. A file has at most 4 MiB: split it.')
  const before = process.memoryUsage().rss
  for (const unit of ['"x"', '"', ',', ';;\n', '"a"b,', 'é', '\r']) {
    const file = bytes(`room\n${unit.repeat(maxFileBytes / 8)}`).subarray(0, maxFileBytes)
    expect(mistakeOf(file)).toMatch(/^Row \d/)
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(600 * 1024 * 1024)
})

test('texts come back as they were written, and none is a formula in the file', () => {
  const texts = [
    '=1+1',
    "'=1+1",
    "''@x",
    '+47 22 33',
    '-5',
    "'-5",
    '-',
    '@home',
    '＝1',
    "O'Hare",
    "'quoted'",
    '\u202e=1',
    'a\u200eb',
    '',
  ]
  const written = importableRow(texts, ',')
  expect(written).not.toMatch(/(^|,)[\u202e"]*[=+@＝]/)
  const [row] = read(`room${',x'.repeat(texts.length - 1)}\n${written}`).rows
  expect(row?.cells.map(withoutApostrophe)).toEqual(texts)
})

test('columns are named as in spreadsheets', () => {
  expect([0, 25, 26, 51, 52, 701, 702].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA'])
})
