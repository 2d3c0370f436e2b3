// Stopping the real program: gently with requests under way, and by force in the middle of writes.
import { get } from 'node:http'
import { connect } from 'node:net'
import { connectAsync } from 'mqtt'
import { expect, onTestFinished, test } from 'vitest'
import { devicePaths } from '../../src/contract/device/protocol.ts'
import { checkEveryAnswer } from '../support/contract/answer-checks.ts'
import { engine, type Reply, send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { type Server, type ServerHere, siteForTest, until } from '../support/program.ts'

/** A connection that says and hears exactly what a test wants. */
function openSocket(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  const heard = { text: '', isClosed: false }
  socket.on('data', (text) => {
    heard.text += text
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    heard.isClosed = true
  })
  return { send: (text: string) => void socket.write(text), heard }
}

/** A request on a connection of its own. */
const ask = (url: string, path: string, key: string) =>
  new Promise<Reply>((resolve, reject) => {
    get(url + path, { agent: false, headers: { authorization: `Bearer ${key}` } }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('')
      const headers = new Headers(response.headers as Record<string, string>)
      resolve({ status: response.statusCode ?? 0, headers, text, body: JSON.parse(text) })
    }).once('error', reject)
  })

test('SIGTERM lets a request that is under way finish, answers new ones with 503, then exits with 0', async () => {
  const site = await siteForTest()
  const server = await site.serve()
  const { url, org, key } = server
  const at = `/v1/orgs/${org}`
  const body = JSON.stringify({ name: 'Europe' })
  const { send, heard } = openSocket(url)
  send(
    `POST ${at}/regions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 8)}`,
  )
  // The server asks for the rest of the body: the request is under way.
  await until('100 Continue', () => heard.text.includes('HTTP/1.1 100 Continue\r\n\r\n'))
  heard.text = ''

  server.signal('SIGTERM')
  const refused = await until('an answer that is not 200', async () => {
    const answer = await ask(url, `${at}/regions`, key)
    return answer.status !== 200 && answer
  })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  expect(refused.headers.get('content-type')).toBe('application/json')
  expect(refused.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' })
  checkEveryAnswer('GET', `${at}/regions`, refused)
  expect((await ask(url, '/readyz', key)).status).toBe(503)
  expect(heard).toEqual({ text: '', isClosed: false })
  expect(server.isRunning).toBe(true)

  send(body.slice(8))
  await until('the answer', () => heard.isClosed)
  expect(heard.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(heard.text).toContain('{"id":1,"name":"Europe","locations":[]}')
  expect(await server.exit()).toMatchObject({ code: 0, signal: null })

  expect(await site.sql('SELECT id, name FROM regions')).toEqual([{ id: 1, name: 'Europe' }])
  const written = `SELECT target_id FROM audit_log WHERE type = 'REGION_CREATED'`
  expect(await site.sql(written)).toEqual([{ target_id: '1' }])
})

test.runIf(engine === 'sqlite')(
  'Ctrl-C ends an idle server at once, even if a client keeps its connection open and a device is connected over WebSocket',
  async () => {
    const site = await siteForTest()
    const server = await site.serve('--mqtt-port', 'off')
    const call = { key: server.key, body: { name: 'Fjord' } }
    const { dec } = (await send(server.url, 'POST', `/v1/orgs/${server.org}/rooms`, call)).body
    const device = { code: dec, serial: 'S1', model: 'NF19B1' }
    const { body } = await send(server.url, 'POST', devicePaths.enrol, { body: device })
    const address = `${server.url.replace('http', 'ws')}${devicePaths.mqtt}`
    const client = await connectAsync(address, { username: body.endpointId, password: body.credential })
    client.options.reconnectPeriod = 0
    client.on('error', () => {})
    onTestFinished(() => client.endAsync(true))
    const kept = openSocket(server.url)
    kept.send('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    await until('the answer', () => kept.heard.text.includes('{"ok":true}'))
    expect(kept.heard.isClosed).toBe(false)

    server.signal('SIGINT')
    const { code, stderr } = await server.exit(5_000)
    expect(code).toBe(0)
    expect(stderr).toContain('"signal":"SIGINT"')
    expect(stderr).toContain('"msg":"stopped"')
  },
)

/** Several clients that create regions until the server is gone; gives back what was answered with 200. */
async function writeUntilGone(server: Server, at: string, key: string, onAnswer: (answered: number) => void) {
  const answered: { id: number; name: string }[] = []
  const client = async (number: number) => {
    for (let i = 0; ; i++) {
      const name = `Region ${number}.${i}`
      const reply = await send(server.url, 'POST', `${at}/regions`, { key, body: { name } }).catch((error) => {
        const isConnectionBroken = ['UND_ERR_SOCKET', 'ECONNRESET', 'ECONNREFUSED'].includes(error.code)
        if (isConnectionBroken) return undefined
        throw error
      })
      if (!reply) return
      expect(reply.status).toBe(200)
      answered.push({ id: reply.body.id, name })
      onAnswer(answered.length)
    }
  }
  await Promise.all([1, 2, 3, 4, 5, 6].map(client))
  return answered
}

test('kill -9 in the middle of writes loses nothing that was answered, and leaves nothing half done', async () => {
  const site = await siteForTest()
  const first = await site.serve('--rate-limit', '0')
  const { org, key } = first
  const at = `/v1/orgs/${org}`
  const answered = []
  const kills = isFullForm ? [25, 75] : [25]
  let server: Server = first
  let later: ServerHere = first
  for (const [i, enough] of kills.entries()) {
    const kill = (count: number) => {
      if (count === enough) server.signal('SIGKILL')
    }
    answered.push(...(await writeUntilGone(server, at, key, kill)))
    expect((await server.exit()).signal).toBe('SIGKILL')
    // The lock of the dead server is free.
    if (i < kills.length - 1) server = await site.serve('--rate-limit', '0')
    else later = await site.serveHere('--rate-limit', '0')
  }
  expect(answered.length).toBeGreaterThanOrEqual(kills.reduce((sum, enough) => sum + enough, 0))

  const { regions } = (await send(later.url, 'GET', `${at}/regions`, { key })).body
  expect(regions).toEqual(expect.arrayContaining(answered.map((region) => ({ ...region, locations: [] }))))
  const everything = 'from=1970-01-01&to=9999-01-01&pageSize=1000'
  const { logs, nextPageToken } = (await send(later.url, 'GET', `${at}/audit/logs?${everything}`, { key })).body
  expect(nextPageToken).toBe('')
  const audited = logs.filter((entry: { type: string }) => entry.type === 'REGION_CREATED')
  const idsOf = (things: { id: number }[]) => things.map(({ id }) => String(id)).sort()
  const targets = audited.map((entry: { target: { id: string } }) => entry.target.id)
  expect(targets.sort(), 'one entry for each region, and none without').toEqual(idsOf(regions))
  const verified = await site.run('audit', 'verify')
  expect(verified).toMatchObject({ code: 0, stderr: '' })
  expect(verified.stdout).toContain(`${org}: ${logs.length} entries`)
})
