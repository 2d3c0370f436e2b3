// Finds the types that several operations or types refer to, and renders their section with links back.
import { type ConfigKey, configKeys, readOnlyKeys } from '../../contract/device/config-keys.ts'
import { breakable, codes, type Html, html, join } from '../core/html.ts'
import { fieldsTable, limitsOf, schemaLink, typeOf, withoutNull } from './fields.ts'
import { type ApiReference, type JsonSchema, nameIn, namesIn, type ReferenceEntry } from './reference.ts'

export const operationLink = (id: string): Html => html`<a href="#${id}">${id}</a>`

/** Maps the name of each type in the section to links to its users. */
export type SharedSchemas = ReadonlyMap<string, readonly Html[]>

const errorShape = 'rpcError'

/** The section omits bodies, types that only one operation answers (they are shown there), and types without fields. */
export function sharedSchemas({ schemas, entries }: ApiReference): SharedSchemas {
  const inside = new Set(Object.values(schemas).flatMap((schema) => [...namesIn(schema)]))
  const answers = entries.map((e) => e.answer?.$ref && nameIn(e.answer.$ref))
  const isShared = (name: string) =>
    name === errorShape || inside.has(name) || answers.indexOf(name) !== answers.lastIndexOf(name)
  const names = Object.keys(schemas).filter((name) => isShared(name) && hasFields(schemas[name]))
  return new Map(names.map((name) => [name, usersOf(name, names, schemas, entries)]))
}

const hasFields = (schema?: JsonSchema): boolean => Object.keys(schema?.properties ?? {}).length > 0

function usersOf(
  name: string,
  shared: readonly string[],
  schemas: ApiReference['schemas'],
  entries: readonly ReferenceEntry[],
): Html[] {
  const holds = (other: string) => namesIn(schemas[other]).has(name)
  const isUsed = (used: string) => used === name || (!shared.includes(used) && holds(used))
  const users = entries.filter(({ body, answer }) => [...namesIn([body, answer])].some(isUsed))
  return [...users.map((e) => operationLink(e.operation.id)), ...shared.filter(holds).map(schemaLink)]
}

export const schemasSection = ({ schemas }: ApiReference, shared: SharedSchemas): Html => html`
  <section id="schemas" aria-labelledby="schemas-title">
  <h2 id="schemas-title">Schemas</h2>
  <p>The types that operations and other types refer to. A key whose optional value is absent is left out of an answer.</p>
  ${[...shared].map(([name, users]) => schemaBlock(name, schemas[name] ?? {}, users))}
  </section>`

const schemaBlock = (name: string, schema: JsonSchema, users: readonly Html[]): Html => html`
  <section class="schema" id="schema-${name}">
  <h3><a class="self" href="#schema-${name}">${name}</a></h3>
  ${users.length > 0 && html`<p class="users">Used by ${join(users)}</p>`}
  ${configBlock(schema) ?? fieldsTable(schema)}
  </section>`

const secrets = Object.keys(configKeys).filter((name) => configKeys[name]?.secret)

/** The table of keys appears once. Returned configs lack the secrets, and those of endpoints have keys that only the device sets. */
function configBlock({ properties = {} }: JsonSchema): Html | undefined {
  const names = Object.keys(properties)
  if (names.some((name) => !(name in configKeys) && !(name in readOnlyKeys))) return undefined
  const hidden = Object.keys(configKeys).filter((name) => !(name in properties))
  if (hidden.length > 0 && hidden.join() !== secrets.join()) return undefined
  const readOnly = names.filter((name) => name in readOnlyKeys)
  if (hidden.length === 0 && readOnly.length === 0) return configTable(properties)
  return html`<p>The keys of ${schemaLink('ProfileConfig')}${hidden.length > 0 && html` without those that are never returned: ${codes(secrets)}`}${
    readOnly.length > 0 && html`, and those that only the device sets: ${codes(readOnly)}`
  }.</p>`
}

const configTable = (properties: Readonly<Record<string, JsonSchema>>): Html => html`
  <p>Every key is optional, and null unsets it. A key that is not in this table is refused by its name.</p>
  <table class="config">
  <thead><tr><th scope="col">Key<th scope="col">Type<th scope="col">Values</thead>
  ${Object.entries(properties).map(([name, schema]) => configRow(name, withoutNull(schema), configKeys[name]))}
  </table>`

function configRow(name: string, schema: JsonSchema, key: ConfigKey | undefined): Html {
  const values = [
    ...limitsOf(schema),
    ...(key?.unit ? [html`in ${key.unit}`] : []),
    ...(key?.format === 'timezone' ? [html`name of a time zone`] : []),
  ]
  return html`<tr><th scope="row"><code>${breakable(name)}</code><td>${typeOf(schema)}<td>${join(values)}`
}
