// The types that several places refer to: which those are, and their section with links back.
import { type ConfigKey, configKeys } from '../../contract/config-keys.ts'
import { fieldsTable, oneOf, schemaLink, span } from './docs-page-fields.ts'
import { code, type Html, html, join } from './docs-page-html.ts'
import { type Entry, nameIn, namesIn, type Reference, type Schema } from './docs-page-reference.ts'

export const operationLink = (id: string): Html => html`<a href="#${id}">${id}</a>`

/** Name of each type that has a place in the section -> links to what uses it. */
export type Shared = ReadonlyMap<string, readonly Html[]>

const errorShape = 'rpcError'

/** A type that one operation alone takes or answers is shown there; one without fields nowhere. */
export function sharedSchemas({ schemas, entries }: Reference): Shared {
  const inside = new Set(Object.values(schemas).flatMap((schema) => [...namesIn(schema)]))
  const answers = entries.map((e) => e.answer?.$ref && nameIn(e.answer.$ref))
  const isShared = (name: string) =>
    name === errorShape || inside.has(name) || answers.indexOf(name) !== answers.lastIndexOf(name)
  const names = Object.keys(schemas).filter((name) => isShared(name) && schemas[name]?.properties && hasFields(schemas[name]))
  return new Map(names.map((name) => [name, usersOf(name, names, schemas, entries)]))
}

const hasFields = (schema: Schema): boolean => Object.keys(schema.properties ?? {}).length > 0

function usersOf(name: string, shared: readonly string[], schemas: Reference['schemas'], entries: readonly Entry[]): Html[] {
  const holders = shared.filter((other) => namesIn(schemas[other]).has(name))
  const operations = entries.filter(({ body, answer }) =>
    [body, answer].some((schema) => [...namesIn(schema)].some((used) => used === name || holdsAlone(used))),
  )
  function holdsAlone(used: string): boolean {
    return !shared.includes(used) && namesIn(schemas[used]).has(name)
  }
  return [...operations.map((e) => operationLink(e.operation.id)), ...holders.map(schemaLink)]
}

export const schemasSection = ({ schemas }: Reference, shared: Shared): Html => html`
  <section id="schemas" aria-labelledby="schemas-title">
  <h2 id="schemas-title">Schemas</h2>
  <p>The types that operations and other types refer to. A key whose optional value is absent is left out of an answer.</p>
  ${[...shared].map(([name, users]) => schemaBlock(name, schemas[name] ?? {}, users))}
  </section>`

const schemaBlock = (name: string, schema: Schema, users: readonly Html[]): Html => html`
  <section class="schema" id="schema-${name}">
  <h3><a class="self" href="#schema-${name}">${name}</a></h3>
  ${users.length > 0 && html`<p class="users">Used by ${join(users, ', ')}</p>`}
  ${isConfig(schema) ? configTable(schema) : fieldsTable(schema)}
  </section>`

const isConfig = (schema: Schema): boolean => Object.keys(schema.properties ?? {}).every((name) => name in configKeys)

/** What is sent may be null and holds secrets; what is returned has the same keys without either. */
function configTable({ properties = {} }: Schema): Html {
  const hidden = Object.keys(configKeys).filter((name) => !(name in properties))
  if (hidden.length > 0) {
    return html`<p>The keys of ${schemaLink('DeviceConfig')} without the write-only ones: ${join(hidden.map(code), ', ')}.</p>`
  }
  return html`
    <p>Every key is optional, and null unsets it. A key that is not in this table is refused by its name.</p>
    <table>
    <thead><tr><th scope="col">Key<th scope="col">Type<th scope="col">Values</thead>
    ${Object.entries(configKeys).map(
      ([name, key]) => html`<tr><th scope="row">${code(name)}<td>${key.type}<td>${join(valuesOf(key), ', ')}`,
    )}
    </table>`
}

function valuesOf(key: ConfigKey): Html[] {
  const known = key.type === 'enum' ? oneOf(key.values ?? []) : []
  const offered = key.type === 'string' && key.values ? [html`for example ${join(key.values.map(code), ', ')}`] : []
  const range = span(key.min, key.max, '')
  return [
    ...known,
    ...offered,
    ...(range ? [html`${range}`] : []),
    ...(key.unit ? [html`in ${key.unit}`] : []),
    ...(key.format === 'timezone' ? [html`name of a time zone`] : []),
    ...(key.secret ? [html`write-only: stored encrypted, never returned`] : []),
  ]
}
