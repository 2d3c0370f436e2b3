// One connection: whose it is, what it wants to hear, and how something is said to it.
import type { Duplex } from 'node:stream'
import { type DownKind, type DownMessage, downTopic, silence, upTopic } from '../../contract/device.ts'
import type { Session } from '../handlers.ts'
import { Answers } from './acknowledgements.ts'
import { Gate, type Receives } from './gate.ts'
import type { Pressure } from './ingest-budget.ts'
import { subscribedTo } from './messages.ts'
import { publish } from './packets.ts'

/** In seconds: CONNECT must have come, what is said must have left, and who must go must have gone. */
const patience = { connect: 10, leave: 20, farewell: 2 } as const

/** What is done with what comes, for all connections. */
export interface Takes {
  readonly pressure: Pressure
  published(connection: Connection, first: number, body: Buffer): void
  controlled(connection: Connection, first: number, body: Buffer): void
  dropped(): void
}

export class Connection implements Receives {
  readonly stream: Duplex
  readonly gate: Gate
  readonly answers: Answers
  /** In seconds, as it said when it connected; undefined until it has. */
  keepAlive: number | undefined
  /** It must go: nothing that it says counts. */
  isOver = false
  /** Something may wait for it that it was not told. */
  mayWait = false
  /** What waits for it is being asked; a wake meanwhile makes it ask again. */
  isAsking = false
  askAgain = false
  readonly #takes: Takes
  readonly #peer: { readonly remoteAddress?: string | undefined }
  #session: Session | undefined
  /** What its own topics begin with. */
  #topics = ''
  #toldVersion = 0
  #toldAt = 0
  #lastId = 0
  /** Something that was said has not left: it does not read. */
  #isUnheard = false
  /** For how long that is so; before it has connected, for how long it is there. */
  #seconds = 0
  /** For how long it should have been gone. */
  #overFor = 0
  readonly #filters = new Map<string, 0 | 1>()

  /** The peer is at the other end of the wire, whatever is spoken on it. */
  constructor(stream: Duplex, peer: { readonly remoteAddress?: string | undefined }, takes: Takes) {
    this.stream = stream
    this.#peer = peer
    this.#takes = takes
    this.gate = new Gate(stream, takes.pressure, this)
    this.answers = new Answers(stream, this.gate)
  }

  published(first: number, body: Buffer): void {
    this.#takes.published(this, first, body)
  }

  controlled(first: number, body: Buffer): void {
    this.#takes.controlled(this, first, body)
  }

  dropped(): void {
    this.#takes.dropped()
  }

  /** Empty when it has gone. */
  get address(): string {
    return this.#peer.remoteAddress ?? ''
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

  /** Once a second. */
  tick(): void {
    if (this.isOver) {
      // Over a WebSocket the end is an agreement, and nobody may be left to agree.
      if (++this.#overFor > patience.farewell) this.stream.destroy()
      return
    }
    this.gate.tick()
    const { keepAlive } = this
    this.#isUnheard &&= this.stream.writableNeedDrain
    this.#seconds = keepAlive === undefined || this.#isUnheard ? this.#seconds + 1 : 0
    if (keepAlive === undefined) {
      if (this.#seconds > patience.connect) this.cutOff('CONNECT did not come in time')
    } else if (this.#seconds > patience.leave) {
      this.cutOff('it does not read what it is told')
    } else if (this.gate.quietSeconds > keepAlive * 1.5 + 1) {
      // Nothing moved for one and a half keep-alives, and a little more. [MQTT-3.1.2-24]
      this.cutOff('nothing was heard for one and a half keep-alives')
    }
  }

  cutOff(why: string): void {
    this.isOver = true
    this.stream.destroy(new Error(why))
  }

  write(bytes: Buffer): void {
    if (this.stream.writable && !this.stream.write(bytes)) this.#isUnheard = true
  }

  /** A last word, and then the end. */
  endWith(bytes: Buffer): void {
    this.isOver = true
    this.stream.write(bytes, () => this.stream.destroy())
  }

  /** It said goodbye: what was answered may still leave. */
  end(): void {
    this.isOver = true
    this.stream.end(() => this.stream.destroy())
  }

  get isListening(): boolean {
    return this.session !== undefined && !this.isOver && this.#filters.size > 0
  }

  /** How it may hear that; undefined for what is not its own. */
  listenTo(topic: string, qos: number): 0 | 1 | undefined {
    const filter = subscribedTo(topic, this.session?.device.id ?? '')
    if (filter === undefined) return undefined
    const granted = qos === 0 ? 0 : 1
    this.#filters.set(filter, granted)
    return granted
  }

  stopListeningTo(topic: string): void {
    this.#filters.delete(subscribedTo(topic, this.session?.device.id ?? '') ?? '')
  }

  /** It was told this version here so lately that it needs time, not the same again. */
  isRepetition({ kind, body }: DownMessage, now: number): boolean {
    return kind === 'config' && this.#toldVersion === body.version && now - this.#toldAt < silence
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
    if (qos === undefined || !this.session || this.isOver || !this.stream.writable) return false
    // [MQTT-2.3.1-1]
    this.#lastId = (this.#lastId % 65_535) + 1
    this.write(publish(downTopic(this.session.device.id, kind), JSON.stringify(body), qos, this.#lastId))
    if (kind === 'config') {
      this.#toldVersion = body.version
      this.#toldAt = now
    }
    return true
  }
}
