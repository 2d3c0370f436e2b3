// Renders the fields of bodies, answers and parameters as tables: name, type, limits, description.
import { breakable, code, codes, Html, html, join, prose } from '../core/html.ts'
import { type JsonSchema, nameIn, type Parameter } from './reference.ts'

interface Row {
  readonly name: string
  readonly note: string
  readonly schema: JsonSchema
  readonly description: Html
}

export const schemaLink = (name: string): Html => html`<a href="#schema-${name}">${name}</a>`

export const parametersTable = (parameters: readonly Parameter[]): Html =>
  table(
    parameters.map((p) => ({
      name: p.name,
      note: `${p.in}, ${p.required ? 'required' : 'optional'}`,
      schema: p.schema,
      description: prose(p.description ?? ''),
    })),
  )

/** `aliases` maps other accepted names to the field that they stand for. */
export function fieldsTable(schema: JsonSchema, aliases: Readonly<Record<string, string>> = {}): Html {
  if (!schema.properties) return html`<p>${typeOf(schema)}${sentence(limitsOf(schema))}</p>`
  const { minProperties } = schema
  return html`
    ${minProperties !== undefined && html`<p>At least ${minProperties} of these.</p>`}
    ${table(rowsOf(schema, '', aliases))}`
}

const sentence = (limits: readonly Html[]): Html | false => limits.length > 0 && html`: ${join(limits)}`

/** A nested object has rows of its own, named by their path from the top. */
function rowsOf(schema: JsonSchema, prefix: string, aliases: Readonly<Record<string, string>>): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const also = Object.keys(aliases).filter((alias) => aliases[alias] === name)
    const row: Row = {
      name: prefix + name,
      note: schema.required?.includes(name) ? 'required' : 'optional',
      schema: field,
      description: html`${prose(meaningOf(field))}${also.length > 0 && html` Also accepted as ${codes(also)}.`}`,
    }
    const one = withoutNull(field)
    const inside = one.items?.properties ? one.items : one
    const below = `${prefix}${name}${one === inside ? '.' : '[].'}`
    return [row, ...rowsOf(inside, below, {})]
  })
}

const table = (rows: readonly Row[]): Html => html`
  <table>
  <thead><tr><th scope="col">Name<th scope="col">Type<th scope="col">Description</thead>
  ${rows.map(tableRow)}
  </table>`

function tableRow({ name, note, schema, description }: Row): Html {
  const limits = limitsOf(schema)
  return html`<tr><th scope="row"><code>${breakable(name)}</code><small>${note}</small>
    <td>${typeOf(schema)}${limits.length > 0 && html`<small>${join(limits)}</small>`}<td>${description}`
}

/** Returns the type of a nullable value without null. */
export function withoutNull(schema: JsonSchema): JsonSchema {
  const [one, ...others] = schema.anyOf?.filter((member) => member.type !== 'null') ?? []
  return one && others.length === 0 ? one : schema
}

/** The description of a nullable type is often inside its union. */
const meaningOf = (schema: JsonSchema): string =>
  schema.description ?? schema.anyOf?.find((member) => member.description)?.description ?? ''

/** The page shows such a type as int32, without its limits. */
const isInt32 = ({ type, minimum, maximum }: JsonSchema): boolean =>
  type === 'integer' && minimum === -(2 ** 31) && maximum === 2 ** 31 - 1

export function typeOf(schema: JsonSchema): Html {
  if (schema.$ref !== undefined) return schemaLink(nameIn(schema.$ref))
  if (schema.anyOf) return unionOf(schema.anyOf)
  if (schema.items) return html`array of ${typeOf(schema.items)}`
  if (schema.const === '') return html`empty string`
  if (isInt32(schema)) return html`int32`
  if (schema.type === 'object' && !schema.properties) return html`object of any keys`
  return html`${schema.type ?? 'any'}${schema.format !== undefined && ` (${schema.format})`}`
}

/** Members of one type, such as the literals of an enum, are shown once. */
function unionOf(members: readonly JsonSchema[]): Html {
  const names = new Set(members.map((member) => typeOf(member).text))
  return join(
    [...names].map((text) => new Html(text)),
    ' or ',
  )
}

export function limitsOf(schema: JsonSchema): Html[] {
  if (schema.anyOf) {
    const literals = schema.anyOf.flatMap((m) => (m.const === undefined || m.const === '' ? [] : [m.const]))
    const others = schema.anyOf.filter((m) => m.const === undefined)
    return [...oneOf(literals), ...others.flatMap(limitsOf)]
  }
  const inItems = schema.items ? limitsOf(schema.items).map((limit) => html`each ${limit}`) : []
  return [...oneOf(schema.enum ?? []), ...numbersOf(schema).map((text) => html`${text}`), ...inItems, ...restOf(schema)]
}

const oneOf = (values: readonly unknown[]): Html[] =>
  values.length === 0 ? [] : [html`one of ${codes(values.map(String))}`]

function numbersOf(schema: JsonSchema): string[] {
  const [least, most] = isInt32(schema) ? [] : [schema.minimum, schema.maximum]
  return [
    span(least, most, ''),
    span(schema.minLength, schema.maxLength, ' characters'),
    span(schema.minItems, schema.maxItems, ' items'),
  ].filter((text) => text !== '')
}

function span(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return ''
  if (least === undefined) return `at most ${most}${unit}`
  if (most === undefined) return `at least ${least}${unit}`
  return `${least} to ${most}${unit}`
}

const restOf = (schema: JsonSchema): Html[] => [
  ...(schema.examples ? [html`for example ${codes(schema.examples.map(String))}`] : []),
  ...(schema.uniqueItems ? [html`no repeats`] : []),
  ...(schema.pattern === undefined ? [] : [html`matches ${code(schema.pattern)}`]),
  ...(schema.default === undefined ? [] : [html`default ${code(JSON.stringify(schema.default))}`]),
  ...(schema.writeOnly ? [html`write-only`] : []),
]
