// One operation of the reference: what it needs, takes, gives and refuses, with an example to paste into a shell.
import { fieldsTable, parametersTable, schemaLink } from './docs-page-fields.ts'
import { code, type Html, html, join, prose } from './docs-page-html.ts'
import { type Entry, nameIn, type Reference, type Schema } from './docs-page-reference.ts'
import type { Shared } from './docs-page-schemas.ts'

export function operationArticle(entry: Entry, { schemas }: Reference, shared: Shared): Html {
  const { operation, base, body, answer } = entry
  const { id, method, summary, description, example } = operation
  const parameters = entry.parameters.filter((p) => p.in !== 'header' && !base.includes(`{${p.name}}`))
  // A body is what a reader has to write, so it stands here even if another operation takes it too.
  const show = (schema: Schema, aliases = {}) => shapeBlock(schema, schemas, shared, aliases)
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
    <h4>Example request</h4>
    <pre>${curlOf(entry)}</pre>
    <h4>Example answer</h4>
    <pre>${JSON.stringify(example.response, null, 2)}</pre>
    </div>
    </article>`
}

export const methodBadge = (method: string): Html => html`<b class="m ${method}">${method}</b>`

const errorLink = ({ status, name }: Entry['errors'][number]): Html =>
  html`<li><a href="#error-${status}"><b>${status}</b> ${words(name)}</a>`

/** `NotFound` as `Not found`. */
export const words = (name: string): string =>
  name.charAt(0) + name.slice(1).replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

function shapeBlock(schema: Schema, schemas: Reference['schemas'], shared: Shared, aliases: Readonly<Record<string, string>>): Html {
  if (schema.$ref === undefined) return fieldsTable(schema, aliases)
  const name = nameIn(schema.$ref)
  if (shared.has(name)) return html`<p class="type">${schemaLink(name)}</p>`
  const found = schemas[name] ?? {}
  if (Object.keys(found.properties ?? {}).length === 0) return html`<p>An empty object.</p>`
  return fieldsTable(found, aliases)
}

function factsList({ operation, base, parameters }: Entry): Html {
  const needs = [operation.scope, ...(operation.manage ? ['manage'] : [])]
  const headers = parameters.filter((p) => p.in === 'header')
  return html`
    <dl>
    ${fact('Needs', join(needs.map((need) => html`<b class="scope">${need}</b>`), ' and '))}
    ${operation.otherPaths && fact('Also at', join(operation.otherPaths.map((path) => code(base + path)), ', '))}
    ${operation.csv && fact('Also as', html`${code('text/csv')}, with the header ${code('Accept: text/csv')}`)}
    ${headers.map((p) => fact(p.name, prose(p.description ?? '')))}
    ${operation.audit && fact('Audit entry', auditOf(operation.audit, operation.method === 'GET'))}
    </dl>`
}

const fact = (name: string, value: Html): Html => html`<div><dt>${name}<dd>${value}</div>`

/** A read is audited only when it exports. */
const auditOf = ({ type, undoType }: NonNullable<Entry['operation']['audit']>, isRead: boolean): Html =>
  html`${code(type)}${undoType !== undefined && html` or ${code(undoType)}`}${isRead && ', for an export'}`

/** Works as it stands once ROOMKEEPER, ORG and KEY are set. */
function curlOf({ operation, base }: Entry): string {
  const { method, example } = operation
  const path = base.replace('{orgid}', '$ORG') + operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => inUrl(example.params?.[name]))
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${inUrl(value)}`)
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$ROOMKEEPER${[path, ...(query.length > 0 ? [query.join('&')] : [])].join('?')}"`,
    '-H "Authorization: Bearer $KEY"',
    ...(example.body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(jsonOf(example.body))}`]),
  ].join(' \\\n  ')
}

/** Also safe between double quotes, where a shell would read a `!`; a colon is legal and easier to read. */
const inUrl = (value: unknown): string => encodeURIComponent(String(value)).replaceAll('!', '%21').replaceAll('%3A', ':')

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function jsonOf(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= 60 ? line : JSON.stringify(value, null, 2)
}
