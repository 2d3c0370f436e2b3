// Makes the JSON that costs most to read for its size, and puts it wherever a schema has a place for it.
import { maxJsonCommas, maxJsonKeys } from '../../src/server/core/json-limits.ts'

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly maxItems?: number
  readonly maxProperties?: number
}

type Filler = (bytes: number) => string

/** As many pieces between two brackets as have room. */
const many =
  (open: string, close: string, piece: (i: number) => string, most = Number.POSITIVE_INFINITY): Filler =>
  (bytes) => {
    const pieces: string[] = []
    let left = bytes - open.length - close.length
    for (let i = 0; i < most; i++) {
      const next = piece(i)
      left -= next.length + 1
      if (left < 0) break
      pieces.push(next)
    }
    return open + pieces.join(',') + close
  }

const nested =
  (open: string, inside: string, close: string): Filler =>
  (bytes) => {
    const levels = Math.floor((bytes - inside.length) / (open.length + close.length))
    return open.repeat(levels) + inside + close.repeat(levels)
  }

const text =
  (unit: string, end = ''): Filler =>
  (bytes) =>
    `"${unit.repeat(Math.floor((bytes - 2 - end.length) / Buffer.byteLength(unit)))}${end}"`

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
/** Never the same twice in a body, and never a number. */
const key = (i: number): string =>
  `"${i < 52 ? '' : letters[Math.floor(i / 52) % 52]}${letters[i % 52]}${i < 2704 ? '' : i}"`

/** Some keys belong to the place of a filler. */
const mostKeys = maxJsonKeys - 10
const mostValues = maxJsonCommas - 10
/** Objects of different keys, as many as are allowed; what room is left is taken by lists. */
const objects =
  (keysInEach: number): Filler =>
  (bytes) => {
    const object = (i: number) =>
      `{${Array.from({ length: keysInEach }, (_, j) => `${key(i * keysInEach + j)}:1`).join(',')}}`
    const found = many('[', ',', object, Math.floor(mostKeys / keysInEach))(bytes - 4)
    return `${found}${nested('[', '', ']')(bytes - found.length - 1)}]`
  }
const objectsInObjects: Filler = (bytes) => {
  const opened: string[] = []
  for (let left = bytes - 1, i = 0; i < mostKeys; i++) {
    left -= key(i).length + 3
    if (left < 0) break
    opened.push(`{${key(i)}:`)
  }
  return `${opened.join('')}1${'}'.repeat(opened.length)}`
}

/** Keys that are expensive to parse. */
const anywhere: Readonly<Record<string, Filler>> = {
  'objects of one key': objects(1),
  'objects of 30 keys': objects(30),
  'one object of different keys': objects(mostKeys),
  'objects in objects': objectsInObjects,
  'more keys than are allowed': many('{', '}', (i) => `${key(i)}:1`),
  'one key again and again': many('{', '}', () => '"name":1.0', mostKeys),
  'keys that are numbers': many('{', '}', (i) => `"${4_294_967_294 - i * 7}":1`, mostKeys),
  'empty objects': many('[', ']', () => '{}'),
  'numbers with a fraction': many('[', ']', () => '1.0', mostValues),
  'more numbers than are allowed': many('[', ']', () => '1.0'),
  'numbers of many digits': many('[', ']', () => `0.${'1234567890'.repeat(80)}e-7`),
  'deep lists': nested('[', '1', ']'),
  'lists as deep as allowed': many('[', ']', () => '['.repeat(28) + ']'.repeat(28)),
  'a text of escapes': text('\\ud83d\\ude00'),
  'no JSON, seen at its end': (bytes) => `[${'1,'.repeat(Math.floor((bytes - 2) / 2))}}`,
}

/** Values that are expensive to validate. */
const inFields: Readonly<Record<string, Filler>> = {
  'objects of 30 keys': objects(30),
  'empty objects': many('[', ']', () => '{}'),
  'short texts': many('[', ']', () => '" "', mostValues),
  'numbers with a fraction': many('[', ']', () => '1.0', mostValues),
  'a number without end': (bytes) => `0.${'1'.repeat(bytes - 2)}`,
  'a text of spaces': text(' '),
  'a text of long characters': text('😀'),
  'half a pair at the end of a text': text('é', '\\ud83d'),
}

/** The shape of a field, without what does not change the work. */
const kindOf = ({ type, properties, patternProperties, items, anyOf }: Schema): string =>
  [
    type,
    properties && 'fields',
    patternProperties && 'map',
    items && `list of ${kindOf(items)}`,
    ...(anyOf ?? []).map(kindOf),
  ].join(' ')

/** Every field of a schema, one of each kind: what comes before and after its value. */
function fieldsOf(schema: Schema): (readonly [before: string, after: string])[] {
  const fields = new Map<string, readonly [string, string]>()
  const visit = (shape: Schema, before: string, after: string): void => {
    for (const { properties = {}, patternProperties = {}, items } of shape.anyOf ?? [shape]) {
      const inside: [open: string, close: string, Schema][] = [
        ...Object.entries(properties).map(([name, field]): [string, string, Schema] => [`{"${name}":`, '}', field]),
        ...Object.values(patternProperties).map((field): [string, string, Schema] => ['{"key":', '}', field]),
        ...(items ? [['[', ']', items] satisfies [string, string, Schema]] : []),
      ]
      for (const [open, close, field] of inside) {
        const kind = `${open.at(0)} ${kindOf(field)}`
        if (!fields.has(kind)) fields.set(kind, [before + open, close + after])
        visit(field, before + open, close + after)
      }
    }
  }
  visit(schema, '', '')
  return [...fields.values()]
}

/** Every field wrong, and every list and map as long as allowed. */
function mistakes(schema: Schema): unknown {
  const [shape = schema] = schema.anyOf ?? [schema]
  const { properties, patternProperties = {}, items, type } = shape
  const [inMap] = Object.values(patternProperties)
  if (properties) return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, mistakes(field)]))
  if (inMap) {
    const { maxProperties = 0 } = shape
    return Object.fromEntries(Array.from({ length: maxProperties }, (_, i) => [`k${i}`, mistakes(inMap)]))
  }
  if (items) return Array(shape.maxItems).fill(mistakes(items))
  return type === 'string' ? 1 : 'wrong'
}

/** A name, and what makes the body: some bodies are a megabyte, and a test does not need all of them at once. */
type WorstBody = readonly [name: string, makeBody: () => Buffer]

/** The worst bodies of a schema that have at most so many bytes. `valid` is an object that fits the schema, if it has one. */
export function worstBodies(schema: object, bytes: number, valid: object = {}): readonly WorstBody[] {
  const beside = `${JSON.stringify({ ...valid, unknown: 0 }).slice(0, -2)}`
  const filled = (name: string, fill: Filler, [before, after]: readonly [string, string]): WorstBody => {
    const makeBody = () => {
      const body = Buffer.from(before + fill(bytes - before.length - after.length) + after)
      if (body.length > bytes) throw new Error(`${name} has ${body.length} bytes`)
      return body
    }
    return [`${name} in ${before}…${after}`, makeBody]
  }
  return [
    ...Object.entries(anywhere).flatMap(([name, fill]) => [
      filled(name, fill, ['', '']),
      filled(name, fill, [beside, '}']),
    ]),
    ...fieldsOf(schema).flatMap((place) => Object.entries(inFields).map(([name, fill]) => filled(name, fill, place))),
    ['nothing but mistakes', () => Buffer.from(JSON.stringify(mistakes(schema))).subarray(0, bytes)],
  ]
}

const encoded = (json: string): string => Buffer.from(json).toString('base64url')

/** The worst forms of one field that have at most so many bytes, each with a name. The value of the field is a JSON Web Token. */
export function* worstForms(field: string, bytes: number): Generator<readonly [name: string, body: Buffer]> {
  const repeated = (unit: string, before = '') =>
    Buffer.from(before + unit.repeat(Math.floor((bytes - before.length) / unit.length)))
  for (const unit of ['&', '=', 'a&', 'a=1&', '+', '%', '%f0', '%F0%9F%98%80', '.', `${field}=&`]) {
    yield [`${unit} again and again`, repeated(unit)]
    yield [`${unit} again and again in the field`, repeated(unit, `${field}=`)]
  }
  const head = { alg: 'RS256', typ: 'JWT' }
  const withFiller = (fill: Filler, room: number) => `${JSON.stringify(head).slice(0, -1)},"x":${fill(room - 40)}}`
  // Base64 makes four bytes of three; the signature of a key with 2048 bits has 342.
  const signature = 'A'.repeat(342)
  const room = Math.floor(((bytes - field.length - signature.length - 100) * 3) / 4)
  for (const [name, fill] of Object.entries(anywhere)) {
    const places = {
      head: [withFiller(fill, room), '{}'],
      payload: [JSON.stringify(head), withFiller(fill, room)],
    } as const
    for (const [place, [first, second]] of Object.entries(places)) {
      const body = Buffer.from(`${field}=${encoded(first)}.${encoded(second)}.${signature}`)
      if (body.length > bytes) throw new Error(`${name} has ${body.length} bytes`)
      yield [`${name} in the ${place} of a token`, body]
    }
  }
}
