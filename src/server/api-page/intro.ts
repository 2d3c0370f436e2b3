// Renders the section "Start here", with the rules that apply to every operation.
import { type ErrorBody, errorCodes } from '../../contract/error.ts'
import { code, codes, type Html, html, join, prose } from '../core/html.ts'
import { schemaLink } from './fields.ts'
import { type ApiReference, allErrors, type Parameter, type ReferenceEntry } from './reference.ts'
import { operationLink } from './schemas.ts'

interface Topic {
  readonly id: string
  readonly title: string
  readonly content: (reference: ApiReference) => Html
}

export const introSection = (reference: ApiReference): Html => html`
  <section id="start" aria-labelledby="start-title">
  <h2 id="start-title">Start here</h2>
  <p class="summary">${prose(reference.info.description)}</p>
  ${topics.map(
    ({ id, title, content }) => html`
      <section class="topic" id="${id}">
      <h3><a class="self" href="#${id}">${title}</a></h3>
      ${content(reference)}
      </section>`,
  )}
  </section>`

const exampleError: ErrorBody = {
  status: 400,
  code: 'INVALID_ARGUMENT',
  message: 'Invalid request: name must have at least 1 character',
  violations: [{ field: 'name', error: 'must have at least 1 character' }],
  requestId: 'b1946ac92492d234',
}

const firstCall = ({ entries }: ApiReference): Html => {
  const read = entries.find(({ operation: o }) => o.scope === 'read' && !o.params && !o.query)
  const path = read ? read.base.replace('{orgid}', '$ORG') + read.operation.path : ''
  return html`
    <p>Set these three in your shell. The examples on this page then call your service. Replace the ids in them with your own
    first: a DELETE deletes.</p>
    <pre>export ROOMKEEPER=<span id="origin">https://roomkeeper.example.org</span>
    export ORG=${String(orgOf(entries[0])?.example)}
    export KEY=rk_…</pre>
    <p>Check that it works with a first call:</p>
    <pre>curl -H "Authorization: Bearer $KEY" "$ROOMKEEPER${path}"</pre>`
}

/** Finds the parameter that every path has. */
const orgOf = (entry: ReferenceEntry | undefined): Parameter | undefined =>
  entry?.parameters.find((p) => entry.base.includes(`{${p.name}}`))

const addresses = ({ entries }: ApiReference): Html => {
  const base = entries[0]?.base ?? ''
  const org = orgOf(entries[0])
  return html`
    <dl>
    <div><dt>${code(base)}<dd>The base of every path.</div>
    <div><dt>${code(`/api${base}`)}<dd>The legacy base. It answers the same, with the headers ${code('Deprecation')},
      ${code('Sunset')} and ${code('Link')}.</div>
    ${org && html`<div><dt>${code(org.name)}<dd>${org.description}</div>`}
    </dl>`
}

const token = ({ tokenDescription }: ApiReference): Html => html`
  <p>Send an API key with every request, in the header ${code('Authorization: Bearer $KEY')}.
  A key belongs to one organisation; any other organisation answers as if it did not exist.</p>
  <p>${prose(tokenDescription)} Write does not include read.</p>`

const values = (): Html => html`
  <ul>
  <li>Bodies are ${code('application/json')}. Unknown keys are ignored, except in a
    ${schemaLink('DeviceConfig')}, where they are refused.
  <li>Times are RFC 3339 in UTC. In a query any offset is accepted.
  <li>Text is trimmed, and its length counts code points.
  <li>Every answer has an ${code('X-Request-Id')}. Send your own to find the call in the log.
  </ul>`

const errors = (reference: ApiReference): Html => html`
  <p>Every error is a ${schemaLink('rpcError')}. Branch on ${code('code')} and show ${code('message')}:
  it says what is wrong and what to do.</p>
  <pre>${JSON.stringify(exampleError, null, 2)}</pre>
  <table class="statuses">
  <thead><tr><th scope="col">Status<th scope="col">Name<th scope="col">Description</thead>
  ${allErrors(reference).map(
    ({ status, title, description }) =>
      html`<tr id="error-${status}"><th scope="row">${status}<td>${title}<td>${prose(description)}`,
  )}
  </table>
  <p>Codes: ${codes(errorCodes)}.</p>
  <p>Checks run in this order, and the first that fails gives the answer: token, rate limit, organisation,
  path and method, scope, size and form of the body, parameters and fields, existence,
  ${code('If-Match')}, state.</p>`

const versions = ({ entries }: ApiReference): Html => {
  const guarded = entries.filter((e) => e.operation.ifMatch).length
  return html`
    <p>The answer to one writable resource has its version in the header ${code('ETag')}. To change only what you have seen:</p>
    <ol>
    <li>Keep the ${code('ETag')} of the answer that read, created or changed the resource, for example ${code('"4"')}.
    <li>Write with ${code('If-Match: "4"')}. ${guarded} operations support this header.
    <li>On ${statusLink('412')} the resource was changed by another request: read it again, then decide.
    </ol>
    <p>Every GET supports ${code('If-None-Match')}: the answer is 304, without a body, while nothing has changed.</p>`
}

const statusLink = (status: string): Html => html`<a href="#error-${status}">${status}</a>`

const rateLimit = (): Html => html`
  <p>Requests are limited per key. These headers say the quota (${code('q')}) per window (${code('w')} seconds),
  the remaining requests (${code('r')}) and the seconds until the quota is full again (${code('t')}):</p>
  <pre>RateLimit-Policy: "default";q=400;w=2
  RateLimit: "default";r=399;t=1</pre>
  <p>On ${statusLink('429')} and ${statusLink('503')} wait for the number of seconds in ${code('Retry-After')}.</p>`

const paging = ({ entries }: ApiReference): Html => {
  const paged = entries.filter((e) => e.operation.query && 'pageToken' in e.operation.query)
  return html`
    <p>A list is an object with one named array, and is complete. Only these operations return pages:
    ${join(paged.map((e) => operationLink(e.operation.id)))}. Send the ${code('nextPageToken')} of an answer
    as the ${code('pageToken')} of the next request, with all other parameters unchanged, until it is empty.</p>`
}

export const topics: readonly Topic[] = [
  { id: 'first-call', title: 'First call', content: firstCall },
  { id: 'addresses', title: 'Addresses', content: addresses },
  { id: 'authentication', title: 'Authentication', content: token },
  { id: 'values', title: 'Requests and values', content: values },
  { id: 'errors', title: 'Errors', content: errors },
  { id: 'versions', title: 'Versions: ETag and If-Match', content: versions },
  { id: 'rate-limit', title: 'Rate limit', content: rateLimit },
  { id: 'paging', title: 'Paging', content: paging },
]
