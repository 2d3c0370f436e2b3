// The HAProxy configuration of docs/scaling.md, run as it is in front of two backends: requests, devices, and a stop that nobody notices.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { need, pathOf } from '../support/debian.ts'
import { frames } from '../support/devices/raw-mqtt.ts'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { freePort, until } from '../support/program.ts'

const document = readFileSync(join(import.meta.dirname, '../../docs/scaling.md'), 'utf8')

interface Backend {
  readonly harness: Harness
  readonly org: TestOrg
  readonly http: number
  readonly mqtts: number
}

let tls: { cert: string; key: string }
const backends: Backend[] = []
let folder: string
let haproxy: ChildProcess
let https: number
let mqtts: number

beforeAll(async () => {
  need('haproxy', 'haproxy')
  folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  tls = certificate({ dataDir: folder })
  writeFileSync(`${tls.cert}.both`, readFileSync(tls.cert, 'utf8') + readFileSync(tls.key, 'utf8'), { mode: 0o600 })
  https = await freePort()
  mqtts = await freePort()
  for (let i = 0; i < 2; i++) {
    const mqttTlsPort = await freePort()
    const secure = { tlsCert: tls.cert, tlsKey: tls.key, mqttPort: 'off', mqttTlsPort } as const
    const balanced = { publicUrl: `https://127.0.0.1:${https}`, trustProxy: ['127.0.0.1'], stopDelay: 5 }
    const harness = await startHarness({ ...secure, ...balanced })
    const http = Number(new URL(harness.url).port)
    backends.push({ harness, org: await harness.newOrg(), http, mqtts: mqttTlsPort })
  }
  haproxy = await startHaproxy(configuration())
})
afterAll(async () => {
  if (haproxy && haproxy.exitCode === null) {
    haproxy.kill('SIGTERM')
    await once(haproxy, 'exit')
  }
  await Promise.all(backends.map(({ harness }) => harness.close()))
  rmSync(folder, { recursive: true })
})

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
  const child = spawn(pathOf('haproxy') ?? 'haproxy', ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
  await until('haproxy passes requests on', async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended:\n${output.join('')}`)
    return (await statusOf('/livez').catch(() => 0)) === 200
  })
  return child
}

/** Sends a request through the balancer, each over a connection of its own. */
const statusOf = (path: string, key = '') =>
  new Promise<number>((resolve, reject) => {
    const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
    const options = { ca: readFileSync(tls.cert), headers, agent: false as const }
    request(`https://127.0.0.1:${https}${path}`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })

const [a, b] = [() => backends[0] as Backend, () => backends[1] as Backend]
const rooms = ({ org }: Backend) => statusOf(`/v1/orgs/${org.id}/rooms`, org.key)

test('requests go to both backends, and metrics to neither', async () => {
  // Each backend has a database of its own here, so the key of one is unknown to the other.
  const statuses = [await rooms(a()), await rooms(a()), await rooms(a()), await rooms(a())]
  expect(statuses.toSorted()).toEqual([200, 200, 401, 401])
  expect(await statusOf('/metrics', a().org.key)).toBe(404)
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
      backends.flatMap(({ harness }) => harness.logged).find((logged) => logged.endpoint === id),
    )
    expect(line).toMatchObject({ msg: 'device refused', address: `127.0.0.${10 + i}` })
  }
})

test('a node that stops loses no request: the balancer notices before it refuses any', async () => {
  const statuses: number[] = []
  let isSending = true
  const send = async () => {
    while (isSending) statuses.push(await statusOf('/openapi.json').catch(() => 0))
  }
  const senders = Promise.all([send(), send()])
  await until('requests run', () => statuses.length > 5)
  await a().harness.stop()
  const atStop = statuses.length
  await until('requests go on', () => statuses.length > atStop + 5)
  isSending = false
  await senders
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect([await rooms(b()), await rooms(b())]).toEqual([200, 200])
})
