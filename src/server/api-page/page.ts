// Renders the API reference at /docs: one page, made from the operation table, that loads nothing from other servers.
import { hash } from 'node:crypto'
import { breakable, Html, html } from '../core/html.ts'
import { introSection, topics } from './intro.ts'
import { methodBadge, operationArticle } from './operation.ts'
import { type ApiReference, readReference } from './reference.ts'
import { type SharedSchemas, schemasSection, sharedSchemas } from './schemas.ts'
import { script } from './script.ts'
import { style } from './style.ts'

export interface DocsPage {
  readonly html: string
  readonly contentSecurityPolicy: string
}

export function docsPage(): DocsPage {
  const reference = readReference()
  return { html: pageOf(reference).text, contentSecurityPolicy }
}

const sha256 = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

/** The hashes allow exactly the style and the script of this page, and no other. */
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${sha256(style)}`,
  `script-src ${sha256(script)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function pageOf(reference: ApiReference): Html {
  const { title, version } = reference.info
  const shared = sharedSchemas(reference)
  return html`<!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Roomkeeper: ${title} ${version}</title>
    <style>${new Html(style)}</style>
    </head>
    <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
    <h1>Roomkeeper: ${title}</h1>
    <p>Version ${version}</p>
    <p><a href="openapi.json">OpenAPI document</a></p>
    </header>
    <div class="page">
    ${navigation(reference)}
    <script>${new Html(script)}</script>
    <main id="main" tabindex="-1">
    ${introSection(reference)}
    ${reference.groups.map((group) => groupSection(group, reference, shared))}
    ${schemasSection(reference, shared)}
    </main>
    </div>
    </body>
    </html>`
}

type Group = ApiReference['groups'][number]

const slug = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(/\W+/g, '-')}`

const groupSection = ({ tag, entries }: Group, reference: ApiReference, shared: SharedSchemas): Html => html`
  <section id="${slug(tag)}" aria-labelledby="${slug(tag)}-title">
  <h2 id="${slug(tag)}-title">${tag}</h2>
  ${entries.map((entry) => operationArticle(entry, reference, shared))}
  </section>`

const navigation = ({ groups }: ApiReference): Html => html`
  <nav aria-label="Contents">
  <details id="menu" open>
  <summary>Contents</summary>
  <div class="filter" hidden>
  <label for="filter">Filter operations</label>
  <input id="filter" type="search" autocomplete="off" spellcheck="false">
  <output id="found" for="filter"></output>
  </div>
  <div class="list">
  <div data-rest>
  <a class="group" href="#start">Start here</a>
  <ul>${topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a>`)}</ul>
  </div>
  ${groups.map(groupLinks)}
  <div data-rest>
  <a class="group" href="#schemas">Schemas</a>
  </div>
  </div>
  </details>
  </nav>`

const groupLinks = ({ tag, entries }: Group): Html => html`
  <div data-operations="${tag}">
  <a class="group" href="#${slug(tag)}">${tag}</a>
  <ul>${entries.map(({ operation: { id, method } }) => html`<li><a href="#${id}">${methodBadge(method)} <span>${breakable(id)}</span></a>`)}</ul>
  </div>`
