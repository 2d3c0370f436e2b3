// Value templates: a small grammar of our own for the templates that publishers write. It is not Jinja, and nothing is executed.
import { type Json, keyOf, parseLimitedJson } from './limited-json.ts'

// template := "{{" expression "}}" | expression
// expression := source ("|" filter)*
// source := "value" | "value_json" step* | "topic" "[" index "]"
// step := "." name | "[" (text | index) "]"
// filter := ("float" | "int") ["(" literal ")"] | "round" ["(" index ")"] | "default" "(" literal ")" | "is_defined"

type Source =
  | { readonly kind: 'value' }
  | { readonly kind: 'value_json'; readonly path: readonly (string | number)[] }
  | { readonly kind: 'topic'; readonly level: number }

type Filter =
  | { readonly kind: 'float' | 'int'; readonly otherwise: Json | undefined }
  | { readonly kind: 'round'; readonly digits: number }
  | { readonly kind: 'default'; readonly otherwise: Json }
  | { readonly kind: 'is_defined' }

export interface Template {
  readonly source: Source
  readonly filters: readonly Filter[]
}

/** A template that this grammar does not have, with its text. */
export class NotUnderstood {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** For people. */
  get sentence(): string {
    return `Not understood: ${shownText(this.text)}`
  }
}

export interface SensorMessage {
  readonly topic: string
  readonly payload: string
}

/** A message whose JSON is parsed at most once, however many templates read it. */
export class TemplateInput {
  readonly topic: string
  readonly payload: string
  #json: Json | undefined
  #isParsed = false

  /** An uplink has its decoded payload as JSON, which the templates of a mapping read. */
  constructor({ topic, payload }: SensorMessage, json?: Json) {
    this.topic = topic
    this.payload = payload
    this.#json = json
    this.#isParsed = json !== undefined
  }

  /** Undefined if the payload is not JSON. */
  get json(): Json | undefined {
    if (!this.#isParsed) this.#json = parseLimitedJson(this.payload)
    this.#isParsed = true
    return this.#json
  }
}

/** A missing key is absent: several entities share a topic, and a message need not have the values of all of them. */
export type Evaluated =
  | { readonly kind: 'value'; readonly value: string | number | boolean }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly because: string }

const maxTemplateCharacters = 512
const maxSteps = 16
const maxFilters = 8
const maxDigits = 10

/** The template of messages that are the value itself. */
export const plainValue: Template = { source: { kind: 'value' }, filters: [] }

export function parseTemplate(text: string): Template | NotUnderstood {
  if (text.length > maxTemplateCharacters) return new NotUnderstood(text)
  const inner = /^\s*\{\{-?([\s\S]*?)-?\}\}\s*$/.exec(text)?.[1] ?? text
  const tokens = tokensOf(inner)
  return (tokens && new TemplateParser(tokens).template()) ?? new NotUnderstood(text)
}

export function evaluate({ source, filters }: Template, message: TemplateInput): Evaluated {
  if (source.kind === 'value_json' && message.json === undefined) return refused('The message is not JSON.')
  let value = sourceValue(source, message)
  for (const filter of filters) {
    const filtered = applyFilter(filter, value)
    if (filtered instanceof Refusal) return refused(filtered.because)
    value = filtered
  }
  if (value === undefined || value === null) return { kind: 'absent' }
  if (typeof value === 'object') return refused('The value is a list or an object.')
  return { kind: 'value', value }
}

/** The number that a value or a text is; undefined if it is none, or not finite. */
export function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || value.length > maxNumberCharacters) return undefined
  const text = value.trim()
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

const maxNumberCharacters = 64

/** As Home Assistant renders a value before it compares it with `payload_on`: Python writes True and False. */
export const renderedText = (value: string | number | boolean): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)

class Refusal {
  readonly because: string

  constructor(because: string) {
    this.because = because
  }
}

const refused = (because: string): Evaluated => ({ kind: 'refused', because })

function sourceValue(source: Source, { payload, topic, json }: TemplateInput): Json | undefined {
  if (source.kind === 'value') return payload
  if (source.kind === 'topic') return topic.split('/')[source.level]
  let value: Json | undefined = json
  for (const step of source.path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : keyOf(value, String(step))
    else value = keyOf(value, step)
  }
  return value
}

function applyFilter(filter: Filter, value: Json | undefined): Json | undefined | Refusal {
  if (filter.kind === 'is_defined') return value
  if (filter.kind === 'default') return value === undefined ? filter.otherwise : value
  if (value === undefined || value === null) {
    return filter.kind !== 'round' && filter.otherwise !== undefined ? filter.otherwise : value
  }
  const number = numberOf(value)
  if (number === undefined) {
    if (filter.kind !== 'round' && filter.otherwise !== undefined) return filter.otherwise
    return new Refusal(`Not a number: ${shownText(typeof value === 'object' ? JSON.stringify(value) : String(value))}`)
  }
  if (filter.kind === 'int') return Math.trunc(number)
  return filter.kind === 'round' ? rounded(number, filter.digits) : number
}

/** The shift in decimal notation avoids that 1.005 becomes 1. */
const rounded = (value: number, digits: number): number => {
  const result = Number(`${Math.round(Number(`${value}e${digits}`))}e-${digits}`)
  return Number.isFinite(result) ? result : value
}

const maxShownCharacters = 160

/** One line for people, of texts that others wrote. */
export function shownText(text: string, maxCharacters = maxShownCharacters): string {
  const line = text
    .slice(0, 4 * maxCharacters)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  const characters = [...line]
  const isWhole = characters.length <= maxCharacters && text.length <= 4 * maxCharacters
  return isWhole ? line : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

type Token =
  | { readonly kind: 'name'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'sign'; readonly text: string }

/** Undefined if a part of the text is no token of the grammar. */
function tokensOf(text: string): Token[] | undefined {
  const token =
    /\s*(?:(?<name>[A-Za-z_]\w*)|(?<number>-?\d+(?:\.\d+)?)|"(?<double>[^"\\]*)"|'(?<single>[^'\\]*)'|(?<sign>[.[\]|()])|(?<end>$))/y
  const tokens: Token[] = []
  for (;;) {
    const groups = token.exec(text)?.groups
    if (!groups) return undefined
    const { name, number, double, single, sign } = groups
    const quoted = double ?? single
    if (name !== undefined) tokens.push({ kind: 'name', text: name })
    else if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) })
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign })
    else return tokens
  }
}

/** Each method returns undefined for what the grammar does not have. */
class TemplateParser {
  readonly #tokens: readonly Token[]
  #position = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  template(): Template | undefined {
    const source = this.#source()
    if (!source) return undefined
    const filters: Filter[] = []
    while (this.#takeSign('|')) {
      const filter = this.#filter()
      if (!filter || filters.length === maxFilters) return undefined
      filters.push(filter)
    }
    return this.#position === this.#tokens.length ? { source, filters } : undefined
  }

  #source(): Source | undefined {
    const name = this.#takeName()
    if (name === 'value') return { kind: 'value' }
    if (name === 'topic') {
      const level = this.#inBrackets()
      return typeof level === 'number' ? { kind: 'topic', level } : undefined
    }
    if (name !== 'value_json') return undefined
    const path: (string | number)[] = []
    while (this.#isSign('.') || this.#isSign('[')) {
      const step = this.#takeSign('.') ? this.#takeName() : this.#inBrackets()
      if (step === undefined || path.length === maxSteps) return undefined
      path.push(step)
    }
    return { kind: 'value_json', path }
  }

  #inBrackets(): string | number | undefined {
    if (!this.#takeSign('[')) return undefined
    const step = this.#literal()
    const isIndex = typeof step === 'number' && Number.isInteger(step) && step >= 0
    return this.#takeSign(']') && (isIndex || typeof step === 'string') ? step : undefined
  }

  #filter(): Filter | undefined {
    const name = this.#takeName()
    const argument = this.#takeSign('(') ? this.#argument() : { isGiven: false, value: undefined }
    if (!argument || name === undefined) return undefined
    const { isGiven, value } = argument
    if (name === 'float' || name === 'int') return { kind: name, otherwise: value }
    if (name === 'is_defined') return isGiven && value !== undefined ? undefined : { kind: name }
    if (name === 'default') return value === undefined ? undefined : { kind: name, otherwise: value }
    if (name !== 'round') return undefined
    const digits = value ?? 0
    const isCount = typeof digits === 'number' && Number.isInteger(digits) && digits >= 0 && digits <= maxDigits
    return isCount ? { kind: name, digits } : undefined
  }

  /** Reads at most one literal, and the closing parenthesis. */
  #argument(): { readonly isGiven: boolean; readonly value: Json | undefined } | undefined {
    if (this.#takeSign(')')) return { isGiven: true, value: undefined }
    const value = this.#literal()
    return value !== undefined && this.#takeSign(')') ? { isGiven: true, value } : undefined
  }

  #literal(): string | number | boolean | null | undefined {
    const token = this.#tokens[this.#position]
    if (!token || token.kind === 'sign') return undefined
    this.#position++
    if (token.kind === 'number') return token.value
    if (token.kind === 'text') return token.text
    return constants.get(token.text)
  }

  #takeName(): string | undefined {
    const token = this.#tokens[this.#position]
    if (token?.kind !== 'name') return undefined
    this.#position++
    return token.text
  }

  #isSign(text: string): boolean {
    const token = this.#tokens[this.#position]
    return token?.kind === 'sign' && token.text === text
  }

  #takeSign(text: string): boolean {
    const isThere = this.#isSign(text)
    if (isThere) this.#position++
    return isThere
  }
}

const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])
