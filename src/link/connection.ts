// One connection: whose it is, what it wants to hear, and how something is said to it.
import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import { type DownKind, type DownMessage, downTopic, silence, upTopic } from '../contract/device.ts'
import { Answers } from './answers.ts'
import { Gate, type GateOptions } from './gate.ts'
import type { Session } from './handlers.ts'
import { subscribedTo } from './messages.ts'

export class Connection {
  readonly stream: Duplex
  readonly gate: Gate
  readonly answers: Answers
  readonly address: string
  /** Set when the broker has taken it. */
  client!: Client
  /** In seconds, as it said when it connected. */
  keepAlive = 0
  /** Its CONNECT asks for something that is not allowed. */
  isUnacceptable = false
  /** It must go: nothing that it says counts. */
  isOver = false
  /** What waits for it is being asked; a wake meanwhile makes it ask again. */
  isAsking = false
  askAgain = false
  #session: Session | undefined
  /** What its own topics begin with. */
  #topics = ''
  #told = { version: 0, at: 0 }
  readonly #filters = new Map<string, 0 | 1>()

  constructor(address: string, gate: GateOptions) {
    this.stream = gate.stream
    this.gate = new Gate(gate)
    this.answers = new Answers(gate.stream, (count) => this.gate.answered(count))
    this.address = address
  }

  /** There when the device has proved who it is. */
  get session(): Session | undefined {
    return this.#session
  }

  begin(session: Session): void {
    this.#session = session
    this.#topics = upTopic(session.device.id, '')
  }

  /** The kind of message that a topic of its own names; undefined for anybody else's topic. */
  kindOf(topic: string): string | undefined {
    return topic.startsWith(this.#topics) ? topic.slice(this.#topics.length) : undefined
  }

  /** Nothing moved for one and a half keep-alives, and a little more. [MQTT-3.1.2-24] */
  get isSilent(): boolean {
    return this.keepAlive > 0 && this.gate.quietSeconds > this.keepAlive * 1.5 + 1
  }

  cutOff(why: string): void {
    this.isOver = true
    this.stream.destroy(new Error(why))
  }

  get isListening(): boolean {
    return this.session !== undefined && !this.isOver && this.#filters.size > 0
  }

  /** How it may hear that; undefined for what is not its own. */
  listenTo(topic: string, qos: number): 0 | 1 | undefined {
    const filter = subscribedTo(topic, this.session?.device.id ?? '')
    if (filter === undefined || this.isOver) return undefined
    const granted = qos === 0 ? 0 : 1
    this.#filters.set(filter, granted)
    return granted
  }

  stopListeningTo(topic: string): void {
    this.#filters.delete(subscribedTo(topic, this.session?.device.id ?? '') ?? '')
  }

  /** It was told this version here so lately that it needs time, not the same again. */
  isRepetition({ kind, body }: DownMessage, now: number): boolean {
    return kind === 'config' && this.#told.version === body.version && now - this.#told.at < silence
  }

  listensTo(kind: DownKind): boolean {
    return this.#qosOf(kind) !== undefined
  }

  #qosOf(kind: DownKind): 0 | 1 | undefined {
    return this.#filters.get(kind) ?? this.#filters.get('#') ?? this.#filters.get('+')
  }

  /** False when nobody listens. */
  say({ kind, body }: DownMessage, now: number): boolean {
    const qos = this.#qosOf(kind)
    if (qos === undefined || !this.session || this.isOver || this.client.closed) return false
    this.client.publish(
      {
        cmd: 'publish',
        topic: downTopic(this.session.device.id, kind),
        payload: Buffer.from(JSON.stringify(body)),
        qos,
        dup: false,
        retain: false,
      },
      () => {},
    )
    if (kind === 'config') this.#told = { version: body.version, at: now }
    return true
  }
}
