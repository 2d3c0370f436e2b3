// The HAProxy configuration of docs/scaling.md, run as it is in front of two nodes of one database: requests, devices, and a stop without failed requests.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Service, startService } from '../../../src/server/app.ts'
import { commandLineActor, orgCreate } from '../../../src/server/journal/orgs/rules.ts'
import { keysCreate } from '../../../src/server/people/keys/rules.ts'
import { certificate } from '../../support/certificate.ts'
import { need, programPath } from '../../support/debian.ts'
import { frames } from '../../support/devices/raw-mqtt.ts'
import { freePort } from '../../support/free-port.ts'
import { newPlace, quiet } from '../../support/harness.ts'
import { until } from '../../support/program.ts'

const document = readFileSync(join(import.meta.dirname, '../../../docs/scaling.md'), 'utf8')

interface Backend {
  readonly service: Service
  readonly http: number
  readonly mqtts: number
  /** Log lines that it wrote, as objects. */
  readonly logged: Record<string, unknown>[]
}

let tls: { cert: string; key: string }
const backends: Backend[] = []
let org: string
let key: string
let removePlace: () => Promise<void>
let folder: string
let haproxy: ChildProcess
let https: number
let mqtts: number

beforeAll(async () => {
  need('haproxy')
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  tls = certificate({ dataDir: folder })
  writeFileSync(`${tls.cert}.both`, readFileSync(tls.cert, 'utf8') + readFileSync(tls.key, 'utf8'), { mode: 0o600 })
  https = await freePort()
  mqtts = await freePort()
  const { place, remove } = await newPlace({ hasTables: true })
  removePlace = remove
  for (let i = 0; i < 2; i++) {
    const mqttTlsPort = await freePort()
    const secure = { tlsCert: tls.cert, tlsKey: tls.key, mqttPort: 'off', mqttTlsPort } as const
    // Only the first is stopped while requests run.
    const stopDelaySeconds = i === 0 ? 5 : 0
    const balanced = { publicUrl: `https://127.0.0.1:${https}`, trustProxy: ['127.0.0.1'], stopDelaySeconds }
    const logged: Record<string, unknown>[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
    const options = { ...quiet, ...place, ...secure, ...balanced, nodeName: `node-${i + 1}` }
    const service = await startService(options, log)
    backends.push({ service, http: Number(new URL(service.url).port), mqtts: mqttTlsPort, logged })
  }
  await createOrg()
  haproxy = await startHaproxy(configuration())
})
afterAll(async () => {
  if (haproxy && haproxy.exitCode === null) {
    haproxy.kill('SIGTERM')
    await once(haproxy, 'exit')
  }
  await Promise.all(backends.map(({ service }) => service.close()))
  await removePlace()
  rmSync(folder, { recursive: true })
})

async function createOrg(): Promise<void> {
  const actor = { type: 'SYSTEM', id: 'test', name: 'Test' } as const
  const { services } = (backends[0] as Backend).service
  org = (await orgCreate(services, actor, 'Test organisation')).id
  const ctx = await commandLineActor(services, actor, org)
  key = (await keysCreate(ctx, { name: 'Test key', scopes: ['read', 'write'] })).body.key
}

/** The text of the document with the ports and files of this test; every replacement must find its text. */
function configuration(): string {
  let [, text = ''] = /^```haproxy\n(.*?)^```$/ms.exec(document) ?? []
  const replacements = [
    ['bind :443 ssl crt /etc/ssl/rooms.example.org.pem', `bind 127.0.0.1:${https} ssl crt ${tls.cert}.both`],
    ['bind :8883', `bind 127.0.0.1:${mqtts}`],
    ['/etc/ssl/nodes.pem', tls.cert],
    ['maxconn 200000', 'maxconn 256'],
    ...backends.flatMap(({ http, mqtts: port }, i) => [
      [`10.0.0.1${i + 1}:8080`, `127.0.0.1:${http}`],
      [`10.0.0.1${i + 1}:8883 check port 8080`, `127.0.0.1:${port} check port ${http}`],
    ]),
  ] as const
  for (const [before, after] of replacements as readonly (readonly [string, string])[]) {
    expect(text).toContain(before)
    text = text.replaceAll(before, after)
  }
  return text
}

async function startHaproxy(text: string): Promise<ChildProcess> {
  const file = `${tls.cert}.cfg`
  writeFileSync(file, text)
  const child = spawn(programPath('haproxy') ?? 'haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  await until('haproxy passes requests on', async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended:\n${output.join('')}`)
    return (await statusOf('/livez').catch(() => 0)) === 200
  })
  return child
}

/** Sends a request through the balancer, each over a connection of its own. Returns the status and the body. */
const sendTo = (path: string, method: string, body?: object) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
    const options = { method, ca: readFileSync(tls.cert), headers, agent: false as const }
    request(`https://127.0.0.1:${https}${path}`, options, async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await text(response) })
    })
      .on('error', reject)
      .end(body && JSON.stringify(body))
  })
const statusOf = async (path: string) => (await sendTo(path, 'GET')).status

test('requests go to both nodes, which see each other’s writes, and metrics to neither', async () => {
  const names = ['Oslo', 'Paris', 'Rome', 'Vienna']
  for (const [i, name] of names.entries()) {
    expect((await sendTo(`/v1/orgs/${org}/rooms`, 'POST', { name })).status).toBe(200)
    // The next request goes to the other node.
    const { rooms } = JSON.parse((await sendTo(`/v1/orgs/${org}/rooms`, 'GET')).text)
    expect(rooms.map((room: { name: string }) => room.name)).toEqual(names.slice(0, i + 1))
    await sendTo('/livez', 'GET')
  }
  const written = backends.map(({ logged }) => logged.filter(({ operation }) => operation === 'roomsCreate').length)
  expect(written).toEqual([2, 2])
  expect(await statusOf('/metrics')).toBe(404)
})

test('devices reach both backends with their own TLS, and the backends see the addresses of the devices', async () => {
  for (let i = 0; i < 4; i++) {
    const id = `5a2f4f3e-8f2c-4f5f-9b0e-00000000000${i}`
    const plain = connectTcp({ host: '127.0.0.1', port: mqtts, localAddress: `127.0.0.${10 + i}` })
    const socket = connectTls({ socket: plain, host: '127.0.0.1', ca: readFileSync(tls.cert) })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(frames.connect(id, 'rkd_unknown'))
    const line = await until('the refusal', () =>
      backends.flatMap(({ logged }) => logged).find((line) => line.endpoint === id),
    )
    expect(line).toMatchObject({ msg: 'device refused', address: `127.0.0.${10 + i}` })
  }
})

test('a node that stops loses no request: the balancer notices before it refuses any', async () => {
  const statuses: number[] = []
  let isSending = true
  const send = async () => {
    while (isSending) {
      statuses.push(await statusOf('/openapi.json').catch(() => 0))
      await pause(20)
    }
  }
  const senders = Promise.all([send(), send()])
  await until('requests run', () => statuses.length > 5)
  const [stopped] = backends.splice(0, 1)
  await stopped?.service.close()
  const atStop = statuses.length
  await until('requests go on', () => statuses.length > atStop + 5)
  isSending = false
  await senders
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  const rooms = `/v1/orgs/${org}/rooms`
  expect([await statusOf(rooms), await statusOf(rooms)]).toEqual([200, 200])
})
