// Renders one operation: scope, parameters, body, answer, errors, and an example to paste into a shell.
import { kibibytes } from '../../contract/operation.ts'
import { code, codes, type Html, html, join, prose } from '../core/html.ts'
import { fieldsTable, parametersTable, schemaLink } from './fields.ts'
import { type ApiReference, type JsonSchema, nameIn, type ReferenceEntry } from './reference.ts'
import type { SharedSchemas } from './schemas.ts'

export function operationArticle(entry: ReferenceEntry, { schemas }: ApiReference, shared: SharedSchemas): Html {
  const { operation, base, body, answer } = entry
  const { id, method, summary, description, example } = operation
  const parameters = entry.parameters.filter((p) => p.in !== 'header' && !base.includes(`{${p.name}}`))
  const show = (schema: JsonSchema, aliases = {}) => shapeBlock(schema, schemas, shared, aliases)
  return html`
    <article id="${id}">
    <div class="text">
    <header>
    <h3><a class="self" href="#${id}">${id}</a></h3>
    <p class="path">${methodBadge(method)} <code><span>${base}</span>${operation.path}</code></p>
    <p class="summary">${prose(summary)}.</p>
    ${description !== undefined && html`<p>${prose(description)}</p>`}
    </header>
    ${factsList(entry)}
    ${parameters.length > 0 && html`<h4>Parameters</h4>${parametersTable(parameters)}`}
    ${body && html`<h4>Body</h4>${show(body, operation.bodyAliases)}`}
    ${answer && html`<h4>Answer</h4>${show(answer)}`}
    <h4>Errors</h4>
    <ul class="errors">${entry.errors.map(errorLink)}</ul>
    </div>
    <div class="examples">
    <div class="request">
    <h4>Example request</h4>
    <pre>${curlOf(entry)}</pre>
    </div>
    <h4>Example answer</h4>
    <pre>${answerText(example.response)}</pre>
    </div>
    </article>`
}

const errorLink = ({ status, title }: ReferenceEntry['errors'][number]): Html =>
  html`<li><a href="#error-${status}"><b>${status}</b> ${title}</a>`

export const methodBadge = (method: string): Html => html`<b class="m ${method}">${method}</b>`

function shapeBlock(
  schema: JsonSchema,
  schemas: ApiReference['schemas'],
  shared: SharedSchemas,
  aliases: Readonly<Record<string, string>>,
): Html {
  if (schema.$ref === undefined) return fieldsTable(schema, aliases)
  const name = nameIn(schema.$ref)
  if (shared.has(name)) return html`<p>${schemaLink(name)}</p>`
  const target = schemas[name] ?? {}
  if (Object.keys(target.properties ?? {}).length === 0) return html`<p>An empty object.</p>`
  return fieldsTable(target, aliases)
}

function factsList({ operation, base, parameters, answerHeaders }: ReferenceEntry): Html {
  const needs = [operation.scope, ...(operation.manage ? ['manage'] : [])].map(
    (need) => html`<b class="scope">${need}</b>`,
  )
  const others = operation.otherPaths?.map((path) => base + path)
  const headers = parameters.filter((p) => p.in === 'header')
  return html`
    <dl>
    ${fact('Needs', join(needs, ' and '))}
    ${others && fact('Also at', codes(others))}
    ${operation.body && fact('Body', html`at most ${kibibytes(operation.bodyLimitBytes)}`)}
    ${operation.csv && fact('Also as', html`${code('text/csv')}, with the header ${code('Accept: text/csv')}`)}
    ${headers.map((p) => fact(p.name, prose(p.description ?? '')))}
    ${Object.entries(answerHeaders).map(([name, { description }]) => fact(name, prose(description)))}
    ${operation.audit && fact('Audit entry', auditOf(operation.audit, operation.method === 'GET'))}
    </dl>`
}

const fact = (name: string, value: Html): Html => html`<div><dt>${name}<dd>${value}</div>`

/** Reads are audited only when they export data. */
const auditOf = ({ type, undoType }: NonNullable<ReferenceEntry['operation']['audit']>, isRead: boolean): Html =>
  html`${code(type)}${undoType !== undefined && html` or ${code(undoType)}`}${isRead && ', for an export'}`

/** The command works once ROOMKEEPER, ORG and KEY are set. The address comes last, because it may be long. */
function curlOf({ operation, base }: ReferenceEntry): string {
  const { method, example, stream } = operation
  return [
    `curl ${stream ? '-N ' : ''}${method === 'GET' ? '' : `-X ${method} `}-H "Authorization: Bearer $KEY"`,
    ...(example.body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(jsonOf(example.body))}`]),
    `"$ROOMKEEPER${base.replace('{orgid}', '$ORG')}${exampleAddress(operation)}"`,
  ].join(' \\\n  ')
}

function exampleAddress({ path, example }: ReferenceEntry['operation']): string {
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${inUrl(value)}`)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => inUrl(example.params?.[name]))
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled
}

/** Escapes `!` too, which a shell expands between double quotes. A colon is legal and easier to read unescaped. */
const inUrl = (value: unknown): string =>
  encodeURIComponent(String(value)).replaceAll('!', '%21').replaceAll('%3A', ':')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** An answer that is not JSON is a string already. */
const answerText = (answer: unknown): string => (typeof answer === 'string' ? answer : JSON.stringify(answer, null, 2))

function jsonOf(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= 48 ? line : JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
}
