// Notifications contain nothing secret: every role that may connect to the database can listen to them.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { makeClient } from '../../src/client/client.ts'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { tokenHash } from '../../src/server/auth/token.ts'
import { commandLineActor } from '../../src/server/journal/orgs/rules.ts'
import { notificationChannel } from '../../src/server/nodes/control-session.ts'
import { loginLinkCreate } from '../../src/server/people/sessions/rules.ts'
import { follow } from '../support/event-follower.ts'
import { send } from '../support/harness.ts'
import type { GroupNode } from '../support/nodes/node-group.ts'
import { type TwoNodes, twoNodes } from '../support/nodes/two-nodes.ts'
import { until } from '../support/program.ts'

/** Hears all notifications, as any session of the database can. */
async function listen(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const payloads: string[] = []
  client.on('notification', ({ payload = '' }) => payloads.push(payload))
  await client.query(`LISTEN ${notificationChannel}`)
  return payloads
}

/** Makes a secret of every kind at a node, and returns them by name. */
async function makeSecrets({ call, org }: TwoNodes, node: GroupNode, name: string): Promise<Record<string, string>> {
  const post = async (path: string, body?: object) => {
    const reply = await call(node, 'POST', path, { body })
    expect(reply.status, reply.text).toBe(200)
    return reply.body
  }
  const { key } = await post('/keys', { name: `Key ${name}`, scopes: ['read'] })
  const user = await post('/users', { email: `${name}@example.org`, role: 'admin', regionIds: [] })
  const invitation = (await post(`/users/${user.id}/invite`)).url.split('#')[1]
  const signedIn = await send(node.url, 'POST', '/console/session', {
    body: { link: invitation },
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  expect(signedIn.status, signedIn.text).toBe(200)
  const session = /=([^;]+)/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
  const ctx = await commandLineActor(node.services, { type: 'CLI', id: 'me', name: 'me' }, org.id)
  const { secret: loginLink } = await loginLinkCreate(ctx)
  const path = `path-of-the-webhook-${name}`
  const webhook = { name: `Hook ${name}`, kind: 'webhook', url: `https://hooks.example.org/${path}` }
  const { secret: webhookSecret } = await post('/channels', webhook)
  const routingKey = `R0UT1NGKEY0123456789abcdefghij-${name}`
  await post('/channels', { name: `Pager ${name}`, kind: 'pagerduty', routingKey })
  const room = await post('/rooms', { name: `Room ${name}` })
  const { dec } = (await call(node, 'GET', `/rooms/${room.id}`)).body
  const body = { code: dec, serial: `serial-${name}`, model: 'NF19B1' }
  const { endpointId, credential } = (await send(node.url, 'POST', devicePaths.enrol, { body })).body
  const password = `correct-horse-battery-${name}`
  await post(`/endpoints/${endpointId}/config`, { nightMode: true, settingsPassword: password })
  const newDec = (await post(`/rooms/${room.id}/regenerate_dec`)).dec
  const secrets = { key, invitation, session, loginLink, path, webhookSecret, routingKey, dec, newDec, credential }
  return { ...secrets, password }
}

test('no notification contains a key, a credential, a password, a link, a code or the hash of one', async () => {
  const nodes = await twoNodes()
  const { a, b, call, org } = nodes
  const { key: token } = (await call(a, 'POST', '/keys', { body: { name: 'Reader', scopes: ['read'] } })).body
  // Events are sent for organisations that are followed.
  const reader = await follow(makeClient({ baseUrl: a.url, org: org.id, token }))
  const payloads = await listen(nodes.databaseUrl)
  const made = { ...(await makeSecrets(nodes, a, 'one')), ...prefixed(await makeSecrets(nodes, b, 'two')) }
  await call(b, 'POST', '/regions', { body: { name: 'The last change' } })
  await reader.next('structure', (event) => event.change?.target?.name === 'The last change')
  await until('all is heard', () => payloads.some((payload) => payload.includes('The last change')))

  // A long message is cut into parts, also in the middle of a text.
  const text = payloads.map((payload) => payload.replace(/^(\S+ ){5}/, '')).join('')
  // A device without a name is named by the end of its serial number.
  for (const name of ['Key one', 'Hook two', 'al-one', 'al-two', 'one@example.org']) expect(text).toContain(name)
  for (const [name, secret] of Object.entries(made)) {
    expect(secret?.length, name).toBeGreaterThan(7)
    const hash = tokenHash(secret)
    for (const form of [secret, encodeURIComponent(secret), hash.toString('hex'), hash.toString('base64')]) {
      expect(text.includes(form), `${name} is in a notification`).toBe(false)
    }
  }
  expect(text, 'bytes as JSON').not.toContain('"Buffer"')
})

const prefixed = (secrets: Record<string, string>) =>
  Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [`${name} at the other node`, secret]))
