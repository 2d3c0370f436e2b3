// A device for tests: enrols through HTTP and speaks MQTT itself, without our own agent, as any maker's device would.
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { expect } from 'vitest'
import {
  type DownKind,
  devicePaths,
  downTopic,
  type EnrolAnswer,
  type UpKind,
  upTopic,
} from '../../../src/contract/device/protocol.ts'
import type { Harness, Reply, TestOrg } from '../harness.ts'

export interface NewDevice {
  readonly roomId: number
  readonly serial?: string
  readonly model?: string
  readonly pairingSerial?: string
  /** Enrols only. */
  readonly offline?: boolean
}

type Body = Reply['body']
const defaultTimeoutMs = 30_000
let count = 0

export async function enrolTestDevice(
  harness: Pick<Harness, 'call'>,
  org: TestOrg,
  {
    roomId,
    serial = `T${++count}${Math.random().toString(36).slice(2, 8)}`,
    model = 'NF19B1',
    pairingSerial,
  }: NewDevice,
): Promise<{ serial: string; model: string; answer: EnrolAnswer }> {
  const room = await org.call('GET', `/rooms/${roomId}`)
  const reply = await harness.call('POST', devicePaths.enrol, {
    body: { code: room.body.dec, serial, model, ...(pairingSerial && { pairingSerial }) },
  })
  expect(reply.status, reply.text).toBe(200)
  return { serial, model, answer: reply.body }
}

export async function newDevice(
  harness: Pick<Harness, 'call' | 'mqttPort'>,
  org: TestOrg,
  wanted: NewDevice,
): Promise<TestDevice> {
  const { serial, model, answer } = await enrolTestDevice(harness, org, wanted)
  const device = new TestDevice(harness.mqttPort, serial, model, answer)
  if (!wanted.offline) await device.connect()
  return device
}

export class TestDevice {
  readonly id: string
  readonly serial: string
  readonly model: string
  readonly credential: string
  readonly connectUrls: readonly string[]
  /** Everything that came down, oldest first, by kind. */
  readonly received: { kind: string; body: Body }[] = []
  readonly #port: number
  #client: MqttClient | undefined
  #taken = new Map<string, number>()
  #waiting: (() => void)[] = []

  constructor(port: number, serial: string, model: string, answer: EnrolAnswer) {
    this.#port = port
    this.serial = serial
    this.model = model
    this.id = answer.endpointId
    this.credential = answer.credential
    this.connectUrls = answer.connect
  }

  get client(): MqttClient {
    if (!this.#client) throw new Error('the device is not connected')
    return this.#client
  }

  /** Resolves when it is connected and subscribed; rejects with the code of the CONNACK. */
  async connect(options: Partial<IClientOptions> & { url?: string; subscribe?: boolean } = {}): Promise<void> {
    const { url = `mqtt://127.0.0.1:${this.#port}`, subscribe = true, ...rest } = options
    const client = mqtt.connect(url, {
      protocolVersion: 4,
      username: this.id,
      password: this.credential,
      keepalive: 30,
      reconnectPeriod: 0,
      connectTimeout: defaultTimeoutMs,
      ...rest,
    })
    client.on('error', () => {})
    client.on('message', (topic, payload) => {
      this.received.push({ kind: topic.split('/').at(-1) ?? '', body: JSON.parse(payload.toString()) })
      for (const wake of this.#waiting.splice(0)) wake()
    })
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve())
      client.once('error', reject)
      client.once('close', () => reject(new Error('closed before it was connected')))
    })
    this.#client = client
    if (subscribe) await client.subscribeAsync(downTopic(this.id, '#'), { qos: 1 })
  }

  /** Resolves when the service has acknowledged it. */
  async publish(kind: UpKind, body: unknown): Promise<void> {
    await this.client.publishAsync(upTopic(this.id, kind), JSON.stringify(body), { qos: 1 })
  }

  /** The next message of a kind that was not taken yet. */
  async next(kind: DownKind, timeoutMs = defaultTimeoutMs): Promise<Body> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      const ofKind = this.received.filter((m) => m.kind === kind)
      const taken = this.#taken.get(kind) ?? 0
      const message = ofKind[taken]
      if (message) {
        this.#taken.set(kind, taken + 1)
        return message.body
      }
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`no ${kind} came within ${timeoutMs} ms`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** Resolves when the service has ended the connection. */
  async ended(timeoutMs = defaultTimeoutMs): Promise<void> {
    const { client } = this
    if (client.stream.destroyed) return
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`still connected after ${timeoutMs} ms`)), timeoutMs)
      client.once('close', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  async close(): Promise<void> {
    // Without this the client would wait forever for acknowledgements that never come.
    await this.#client?.endAsync(!this.#client.connected)
  }

  /** As if the cable had been pulled. */
  drop(): void {
    this.client.stream.destroy()
  }
}
