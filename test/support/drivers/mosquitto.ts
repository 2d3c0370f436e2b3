// Runs Debian's mosquitto on ports of 127.0.0.1: with a password, with TLS and a client certificate, and with WebSockets, plain and over TLS.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAsync, type MqttClient } from 'mqtt'
import { makeSelfSigned } from '../../../src/simulator/hardware-fakes/self-signed.ts'
import { need } from '../debian.ts'
import { freePort } from '../free-port.ts'

export const brokerUser = 'sensor reader'
export const brokerPassword = 'broker-password-7431'

export interface TestBroker {
  readonly port: number
  readonly tlsPort: number
  /** Wants a client certificate. */
  readonly mutualPort: number
  readonly webSocketPort: number
  readonly tlsWebSocketPort: number
  /** Its own certificate is the authority that confirms it. */
  readonly cert: string
  readonly client: { readonly cert: string; readonly key: string }
  readonly pid: () => number
  /** A client of the test, which may publish. */
  connect(): Promise<MqttClient>
  /** Ends the process, as an outage does; retained messages are lost. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

interface BrokerOptions {
  /** Another user with the same password, and what the user may do, as a file of mosquitto says it. */
  readonly reader?: { readonly user: string; readonly acl: string }
}

export async function startTestBroker({ reader }: BrokerOptions = {}): Promise<TestBroker> {
  need('mosquitto')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-mosquitto-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const [server, client] = [makeSelfSigned({ lifetimeDays: 1 }), makeSelfSigned({ lifetimeDays: 1 })]
  const [port, tlsPort, mutualPort, webSocketPort, tlsWebSocketPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const passwords = file('passwords', '')
  for (const user of [brokerUser, ...(reader ? [reader.user] : [])])
    execFileSync('mosquitto_passwd', ['-b', passwords, user, brokerPassword], { stdio: 'ignore' })
  const acl = reader && file('acl', `user ${brokerUser}\ntopic readwrite #\n\n${reader.acl}`)
  const tls = [
    `certfile ${file('server.pem', server.cert)}`,
    `keyfile ${file('server.key', server.key)}`,
    `cafile ${file('clients.pem', client.cert)}`,
  ]
  const config = file(
    'mosquitto.conf',
    [
      'per_listener_settings false',
      'allow_anonymous false',
      `password_file ${passwords}`,
      ...(acl === undefined ? [] : [`acl_file ${acl}`]),
      'persistence false',
      'user root',
      'log_dest stderr',
      'log_type information',
      'log_type warning',
      'log_type error',
      'set_tcp_nodelay true',
      'max_queued_messages 100000',
      `listener ${port} 127.0.0.1`,
      `listener ${tlsPort} 127.0.0.1`,
      ...tls,
      `listener ${mutualPort} 127.0.0.1`,
      ...tls,
      'require_certificate true',
      `listener ${webSocketPort} 127.0.0.1`,
      'protocol websockets',
      `listener ${tlsWebSocketPort} 127.0.0.1`,
      'protocol websockets',
      ...tls,
      '',
    ].join('\n'),
  )
  const launch = async () => {
    const child = spawn('mosquitto', ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    let output = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-10_000)
        if (output.includes(' running')) resolve()
      })
      void ended.then(() => reject(new Error(`mosquitto ended: ${output}`)))
    })
    return { child, ended }
  }
  let running = await launch()
  const kill = async () => {
    running.child.kill('SIGKILL')
    await running.ended
  }
  return {
    port,
    tlsPort,
    mutualPort,
    webSocketPort,
    tlsWebSocketPort,
    cert: server.cert,
    client,
    pid: () => running.child.pid as number,
    connect: () =>
      connectAsync(`mqtt://127.0.0.1:${port}`, {
        username: brokerUser,
        password: brokerPassword,
        reconnectPeriod: 200,
      }),
    kill,
    async start() {
      running = await launch()
    },
    async stop() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
