// Reads a document from a YAML or JSON file, and remembers where each value stands.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import { checkDocument } from '../../plan/check-document.ts'
import type { OrganisationDocument } from '../../plan/document.ts'
import type { FilePlace, FindPlace } from '../../plan/plan.ts'
import { CommandError } from '../terminal/command-error.ts'
import { readInputFile } from '../terminal/input-file.ts'

/** An export of 10,000 rooms with fields has about 5 MB. */
const maxFileBytes = 16 * 1024 * 1024
/**
 * Parsing takes up to 450 bytes for a token, such as a key, a value, a sign or a line end. An export has one in three bytes, and
 * 240 in a room with twenty fields; a file that is made to exhaust the memory has one in each byte.
 */
const maxTokens = 4_000_000
const maxShownMistakes = 50

export interface ReadDocument {
  readonly document: OrganisationDocument
  readonly findPlace: FindPlace
}

/** Sentences for errors of the parser whose own are about its code. */
const errorTexts: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'A file has one document. Remove the line ---.',
  RESOURCE_EXHAUSTION: 'The values are nested too deeply.',
}

interface Mistake {
  readonly message: string
  readonly place?: FilePlace | undefined
}

/** Throws a `CommandError` that names each mistake with its line and column. */
export function readDocument(file: string): ReadDocument {
  const text = textOf(readBytes(file), file)
  checkTokens(text, file)
  const lines = new LineCounter()
  const mistakesAt = (mistakes: readonly Mistake[]) => new CommandError(mistakesText(file, mistakes))
  const parsed = parse(text, lines)
  if (!parsed) throw mistakesAt([{ message: 'The values are nested too deeply.' }])
  const placeAt = (offset: number): FilePlace => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const mistakes: Mistake[] = [...parsed.errors, ...parsed.warnings].map(({ code, message, pos }) => ({
    message: errorTexts[code] ?? (message.endsWith('.') ? message : `${message}.`),
    place: placeAt(pos[0]),
  }))
  visit(parsed, {
    Alias: (_, { range }) => {
      mistakes.push({
        message: 'Aliases (*name) are not supported. Write the value again.',
        place: placeAt(range?.[0] ?? 0),
      })
    },
    // The parser compares each key with each other one, which takes minutes for a map of many.
    Map: (_, { items }) => {
      const names = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (names.has(key.value)) {
          mistakes.push({
            message: `Duplicate key: ${key.value}. Remove one of the two.`,
            place: placeAt(key.range?.[0] ?? 0),
          })
        }
        names.add(key.value)
      }
    },
  })
  if (mistakes.length === 0 && parsed.contents === null) {
    mistakes.push({ message: 'The file is empty. "export" writes one to start from.', place: placeAt(0) })
  }
  if (mistakes.length > 0) throw mistakesAt(mistakes)
  const findPlace: FindPlace = (pointer) => placeAt(offsetOf(parsed, pointer))
  const checked = checkDocument(parsed.toJS({ maxAliasCount: 0 }), findPlace)
  if ('problems' in checked) throw mistakesAt(checked.problems)
  return { document: checked.document, findPlace }
}

/** Undefined if the file has so many levels that the parser, which calls itself for each, runs out of stack. */
function parse(text: string, lineCounter: LineCounter): Document | undefined {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, merge: false })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const readBytes = (file: string): Buffer =>
  readInputFile(file, (bytes) => {
    if (bytes <= maxFileBytes) return
    throw new CommandError(
      `${file} has ${Math.ceil(bytes / 1024 / 1024)} MB. A document can have ${maxFileBytes / 1024 / 1024} MB.`,
    )
  })

function textOf(bytes: Buffer, file: string): string {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new CommandError(`${file} is UTF-16. Save it as UTF-8.`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const before = new TextDecoder().decode(bytes).split('\uFFFD', 1)[0] as string
    const lines = before.split('\n')
    const place = { line: lines.length, column: (lines.at(-1) as string).length + 1 }
    throw new CommandError(mistakesText(file, [{ message: 'The text is not UTF-8. Save the file as UTF-8.', place }]))
  }
}

/** The lexer needs no memory for tokens that it has passed, and less time than the parser. */
function checkTokens(text: string, file: string): void {
  // A character is at most two tokens.
  if (text.length <= maxTokens / 2) return
  let count = 0
  for (const _ of new Lexer().lex(text)) if (++count > maxTokens) throw new CommandError(tooManyTokens(file))
}

const tooManyTokens = (file: string) =>
  `${file} has too many keys and values for one file. Split it: each file can have some of the sections. Nothing was changed.`

/** The offset of the value at a JSON Pointer, or of the nearest value around it. */
function offsetOf(parsed: Document, pointer: string): number {
  let node: unknown = parsed.contents
  let offset = startOf(node) ?? 0
  for (const part of pointer.split('/').slice(1)) {
    if (!isCollection(node)) break
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name) : undefined
    node = isMap(node) ? pair?.value : node.get(Number(name), true)
    const start = startOf(node) ?? (isPair(pair) ? startOf(pair.key) : undefined)
    if (start === undefined) break
    offset = start
  }
  return offset
}

const startOf = (node: unknown): number | undefined =>
  isNode(node) && !isAlias(node) && node.range ? node.range[0] : undefined

function mistakesText(file: string, mistakes: readonly Mistake[]): string {
  const shown = mistakes
    .slice(0, maxShownMistakes)
    .map(({ message, place }) => `${filePlaceText(file, place)} ${message}`)
  const rest = mistakes.length - shown.length
  return [...shown, ...(rest > 0 ? [`${rest} more mistakes.`] : []), 'Nothing was changed.'].join('\n')
}

export const filePlaceText = (file: string, place: FilePlace | undefined): string =>
  place ? `${file}:${place.line}:${place.column ?? 1}:` : `${file}:`
