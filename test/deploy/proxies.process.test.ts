// The examples of reverse proxies, run for real: HTTPS, event streams, MQTT over WebSocket, and what must not get through.
import { readFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { need } from '../support/debian.ts'
import { frames } from '../support/devices/raw-mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { newSite, type Server, type Site, until } from '../support/program.ts'
import { proxyKinds, type RunningProxy, startProxy } from '../support/proxy.ts'

describe.each(['nginx', 'haproxy'] as const)('%s', (name) => {
  let site: Site
  let server: Server
  let proxy: RunningProxy
  let tls: { cert: string; key: string }
  let url: string
  let ports: { http: number; mqtt: number }

  beforeAll(async () => {
    need(name)
    site = await newSite()
    tls = certificate(site)
    ports = { http: await freePort(), mqtt: await freePort() }
    const targets = { folder: site.dataDir, httpPort: ports.http, mqttPort: ports.mqtt, tls }
    proxy = await startProxy(proxyKinds[name], targets)
    url = `https://127.0.0.1:${proxy.https}`
    const options = ['--port', `${ports.http}`, '--mqtt-port', `${ports.mqtt}`, '--trust-proxy', '127.0.0.1']
    server = await site.serve(...options, '--public-url', url)
  })
  afterAll(async () => {
    await proxy?.close()
    await site?.close()
  })

  interface Answer {
    readonly status: number | undefined
    readonly text: string
    readonly headers: Record<string, unknown>
  }
  const send = (path: string, { body, ...options }: RequestOptions & { body?: string | Buffer } = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json', ...options.headers }
      const sent = request(url + path, { ca: readFileSync(tls.cert), ...options, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode, text, headers: response.headers }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const api = (path: string) => `/v1/orgs/${server.org}${path}`
  const create = (noun: string, body: object) => send(api(noun), { method: 'POST', body: JSON.stringify(body) })

  test('plain HTTP is sent to HTTPS, the API and the console answer there, and metrics stay inside', async () => {
    const plain = await fetch(`http://127.0.0.1:${proxy.http}/docs?a=1`, { redirect: 'manual' })
    expect([plain.status, plain.headers.get('location')]).toEqual([
      308,
      expect.stringMatching(/^https:\/\/.*\/docs\?a=1$/),
    ])
    // A balancer may have to notice first that the service is there.
    const regions = await until('an answer', async () => {
      const answer = await send(api('/regions'))
      return answer.status === 200 && answer
    })
    expect(JSON.parse(regions.text)).toEqual({ regions: [] })
    expect(regions.headers['strict-transport-security']).toBe('max-age=31536000')
    expect((await send('/', { headers: { accept: 'text/html' } })).text).toContain('<title>')
    expect((await send('/metrics')).status).toBe(404)
  })

  test('the service sees the address of the client, and believes nothing that the client says about it', async () => {
    await create('/regions', { name: 'Europe' })
    const spoofed = { 'x-forwarded-for': '203.0.113.7' }
    await send(api('/regions'), { method: 'POST', body: '{"name":"Asia"}', headers: spoofed })
    const logs = JSON.parse((await send(api('/audit/logs?from=2000-01-01&to=2999-01-01&pageSize=2'))).text).logs
    expect(logs.map(({ ip }: { ip: string }) => ip)).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  test('an event arrives while the stream is open', async () => {
    let text = ''
    const headers = { authorization: `Bearer ${server.key}`, accept: 'text/event-stream' }
    const stream = request(url + api('/events'), { ca: readFileSync(tls.cert), headers }, (response) => {
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
    })
    stream.on('error', () => {})
    stream.end()
    onTestFinished(() => void stream.destroy())
    await until('the stream is open', () => text.includes('id:'))
    await create('/regions', { name: 'Oceania' })
    await until('the event', () => text.includes('REGION_CREATED') && text.includes('Oceania'))
  })

  test('a large upload reaches the service, which decides about it', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024)
    const answer = await send('/device/v1/logs/none', { method: 'PUT', body, agent: false }).catch((error) => error)
    // The service may close the connection before it has read a body that it refuses.
    expect(answer.code ?? JSON.parse(answer.text).code).toMatch(/UNAUTHENTICATED|NOT_FOUND|EPIPE|ECONNRESET/)
    expect(answer.status).not.toBe(413)
  })

  test('a device enrols and connects over WebSocket, and where the proxy has it over MQTT with TLS', async () => {
    const room = JSON.parse((await create('/rooms', { name: 'Fjord' })).text)
    const request = { code: room.dec, serial: `S-${name}`, model: 'NF19B1' }
    const answer = await send('/device/v1/enrol', { method: 'POST', body: JSON.stringify(request) })
    const { endpointId, credential, connect } = JSON.parse(answer.text)
    expect(connect).toContain(`wss://127.0.0.1:${proxy.https}/device/v1/mqtt`)
    const addresses = connect.filter((address: string) => address.startsWith('wss:'))
    if (name === 'haproxy') addresses.push(`mqtts://127.0.0.1:${proxy.mqtts}`)
    for (const address of addresses) {
      const login = { clientId: endpointId, username: endpointId, password: credential, protocolVersion: 4 as const }
      const client = await connectAsync(address, {
        ...login,
        ca: [readFileSync(tls.cert)],
        keepalive: 30,
        reconnectPeriod: 0,
      })
      await client.publishAsync(`v1/${endpointId}/up/status`, JSON.stringify({ firmwareVersion: address }), { qos: 1 })
      const endpoint = JSON.parse((await send(api(`/endpoints/${endpointId}`))).text)
      expect(endpoint).toMatchObject({ connected: true, firmwareVersion: address })
      await client.endAsync()
    }
  })

  if (name === 'haproxy')
    test('the service sees the address of a device over MQTT, and believes no PROXY header of the device', async () => {
      const send = (localAddress: string, bytes: Buffer) => {
        const plain = connectTcp({ host: '127.0.0.1', port: proxy.mqtts, localAddress })
        const socket = connectTls({ socket: plain, host: '127.0.0.1', ca: readFileSync(tls.cert) })
        onTestFinished(() => void socket.destroy())
        socket.on('error', () => {}).resume()
        socket.write(bytes)
        return until('the end of the connection', () => socket.closed || socket.readableEnded)
      }
      const stranger = frames.connect('5a2f4f3e-8f2c-4f5f-9b0e-000000000001', 'rkd_unknown')
      await send('127.0.0.20', stranger)
      await server.printed(/"address":"127\.0\.0\.20".*"msg":"device refused"/, 'stderr')
      // The source 203.0.113.7 in a header of version 2.
      const forged = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb0071077f0000011234075b', 'hex')
      await send('127.0.0.21', Buffer.concat([forged, stranger]))
      await send('127.0.0.22', stranger)
      await server.printed(/"address":"127\.0\.0\.22".*"msg":"device refused"/, 'stderr')
      expect(server.stderr).not.toContain('203.0.113.7')
    })
})
