// Event feeds of several nodes on one bus, with a log of what was committed, and followers that change node.
import { pino } from 'pino'
import type { Event } from '../../../src/contract/journal/events.ts'
import { RegionAccess } from '../../../src/server/core/region-access.ts'
import { timeLimits } from '../../../src/server/core/time-limits.ts'
import type { EventChannel } from '../../../src/server/events/event-channel.ts'
import { EventFeed } from '../../../src/server/events/feed.ts'
import { EventFilter } from '../../../src/server/events/filter.ts'
import { CommandEvents } from '../../../src/server/events/publisher.ts'
import type { SharedTestBus, TestBusPort } from './shared-bus.ts'

const org = 7
const everything = new EventFilter({}, { access: RegionAccess.everything, mayReadAuditLog: true })
const log = pino({ level: 'silent' })
const clock = { now: () => Date.now() }

/** The part of the database that the feeds read, and what was committed. */
export class EventCluster {
  readonly bus: SharedTestBus
  readonly nodes: TestNode[] = []
  readonly up = new Set<number>()
  /** The number of the last audit entry. */
  entries = 0
  /** The last report of each node's devices. */
  readonly reports = new Map<number, number>()
  #nodeIds = 0

  constructor(bus: SharedTestBus) {
    this.bus = bus
  }

  get living(): TestNode[] {
    return this.nodes.filter(({ port }) => !port.isDead)
  }

  async startNode(): Promise<TestNode> {
    const node = new TestNode(this, ++this.#nodeIds)
    this.up.add(node.id)
    await node.feed.start()
    this.nodes.push(node)
    return node
  }

  /** The others declare the node dead some time after its death. */
  kill(node: TestNode, declaredAfterMs: number): void {
    node.port.die()
    node.stop()
    setTimeout(() => {
      this.up.delete(node.id)
      this.living.find(({ port }) => !port.isCut)?.port.send('nodeEnded', { nodeId: node.id })
    }, declaredAfterMs)
  }

  /** A change by a command, which runs beside the nodes. */
  async runCommand(): Promise<void> {
    const port = this.bus.connect(() => undefined)
    const events = new CommandEvents({ bus: port, locate: async () => [], clock, log })
    events.forOrg(org).publish([draftOf(++this.entries)])
    await events.close()
    this.bus.disconnect(port)
  }

  stop(): void {
    for (const node of this.nodes) node.stop()
  }
}

const places = { rooms: [], locations: [], regions: [] }
const draftOf = (auditNumber: number) => ({
  type: 'structure' as const,
  auditNumber,
  places,
  change: { id: String(auditNumber), type: 'T', target: { type: 'region', id: '1', name: 'R' } },
})

export class TestNode {
  readonly #cluster: EventCluster
  readonly id: number
  readonly port: TestBusPort
  readonly feed: EventFeed
  readonly #checks: NodeJS.Timeout

  constructor(cluster: EventCluster, id: number) {
    this.#cluster = cluster
    this.id = id
    this.port = cluster.bus.connect(() => id)
    this.feed = new EventFeed({
      bus: this.port,
      clock,
      limits: timeLimits,
      log,
      locate: async () => [],
      nodeId: () => id,
      listNodes: async () => [...cluster.up],
      findAuditNumber: async () => cluster.entries,
      auditGapMs: 1000,
    })
    this.#checks = setInterval(() => void this.feed.check(), 1000)
  }

  /** Commits a change. Its confirmation takes a while, in which the node may die. */
  change(confirmedAfterMs: number): void {
    const auditNumber = ++this.#cluster.entries
    this.#publish(draftOf(auditNumber), confirmedAfterMs)
  }

  /** Commits a report of a device. The node of a device confirms the reports of that device in their order. */
  report(): void {
    const number = (this.#cluster.reports.get(this.id) ?? 0) + 1
    this.#cluster.reports.set(this.id, number)
    this.#publish({ type: 'connected' as const, endpointId: `${this.id} ${number}`, places }, 0)
  }

  stop(): void {
    clearInterval(this.#checks)
    void this.feed.close()
  }

  #publish(
    draft: ReturnType<typeof draftOf> | { type: 'connected'; endpointId: string; places: typeof places },
    afterMs: number,
  ) {
    const publish = () => {
      if (!this.port.isDead) this.feed.forOrg(org).publish([draft])
    }
    if (afterMs === 0) publish()
    else setTimeout(publish, afterMs)
  }
}

/** Something that a follower did or received, with the state of the database at that time. */
export interface Heard {
  readonly what: 'begin' | 'reset' | 'entry' | 'report'
  readonly number: number
  readonly node: number
  readonly entries: number
  readonly reports: ReadonlyMap<number, number>
}

/** Reads a channel as a stream does, and goes on at another node with the id of the last event. */
export class TestFollower {
  readonly #cluster: EventCluster
  readonly heard: Heard[] = []
  #lastEventId: string | undefined
  #channel: EventChannel | undefined
  #position = 0
  #unfollow = () => {}
  node: TestNode | undefined

  constructor(cluster: EventCluster) {
    this.#cluster = cluster
  }

  /** A try that fails leaves the follower without a node, as a 503 does. */
  async move(node: TestNode): Promise<void> {
    this.leave()
    this.node = node
    await node.feed.follow(org).catch(() => {})
    const channel = node.feed.channel(org)
    if (this.node !== node || !channel || node.port.isDead) return
    const resumeAt = this.#lastEventId === undefined ? channel.position : channel.positionOf(this.#lastEventId)
    if (this.#lastEventId === undefined) this.#note('begin', 0, 0)
    else if (resumeAt === undefined) this.#note('reset', 0, 0)
    this.#channel = channel
    this.#position = resumeAt ?? channel.position
    this.#lastEventId = channel.idAt(this.#position)
    this.#unfollow = channel.follow(() => this.#read())
    this.#read()
  }

  leave(): void {
    this.#unfollow()
    this.#unfollow = () => {}
    this.#channel = undefined
    this.node = undefined
  }

  get isFollowing(): boolean {
    return this.#channel !== undefined && this.node?.port.isDead === false
  }

  get resets(): number {
    return this.heard.filter(({ what }) => what === 'reset').length
  }

  #read(): void {
    const channel = this.#channel
    if (!channel || this.node?.port.isDead) return
    this.#position = channel.resumeAt(this.#position)
    while (this.#position < channel.position) {
      const { bytes, to } = channel.read(this.#position, everything)
      this.#position = to
      for (const block of bytes.toString().split('\n\n').slice(0, -1)) this.#take(block)
    }
  }

  #take(block: string): void {
    this.#lastEventId = /^id: (.*)$/m.exec(block)?.[1]
    const event: Event = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '')
    if (event.type === 'reset') this.#note('reset', 0, 0)
    else if (event.change) this.#note('entry', Number(event.change.id), 0)
    else {
      const [node, number] = (event.endpointId ?? '').split(' ').map(Number)
      this.#note('report', number ?? 0, node ?? 0)
    }
  }

  #note(what: Heard['what'], number: number, node: number): void {
    const { entries, reports } = this.#cluster
    this.heard.push({ what, number, node, entries, reports: new Map(reports) })
  }
}

/** All events that the channel of a node retains since its last reset. */
export function retainedAt({ feed }: TestNode): string {
  const channel = feed.channel(org)
  if (!channel) return ''
  let text = ''
  let position = channel.resumeAt(0)
  while (!channel.has(position)) position++
  while (position < channel.position) {
    const { bytes, to } = channel.read(position, everything)
    text += bytes.toString()
    position = to
  }
  return text.replace(/^id: \S+\nevent: reset\ndata: .*\n\n/, '')
}
