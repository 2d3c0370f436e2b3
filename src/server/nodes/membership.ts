// Keeps this process a member of the nodes of a PostgreSQL: it beats, watches the others, and takes a new row when it was declared dead.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { PostgresBus } from '../bus/postgres-bus.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import {
  beatAndList,
  endSessionsOf,
  isNodeLocked,
  isNodeUp,
  lockNode,
  type NodeRow,
  updateClusterLeft,
  updateDead,
} from './cluster-store.ts'
import { type ControlSession, type ControlSessionListener, notifyAll } from './control-session.ts'
import { requireDirectConnection } from './direct-connection.ts'
import { type JoinRequest, joinNodes, NameTaken } from './joining.ts'
import { LivenessWatch } from './liveness.ts'
import { ThisNode } from './this-node.ts'

const beatEveryMs = 1_000
/** The sessions that held the row of a silent node have ended by then. */
const heldRowPauseMs = 100
/** A stop does not wait longer than this for its last messages. */
const flushTimeoutMs = 1_000
const leavePauseMs = 100

interface MembershipOptions {
  readonly url: string
  readonly name: string
  readonly processName: string
  readonly clock: Clock
  readonly limits: TimeLimits
  readonly log: Log
  /** Throws if this process must not join the nodes that are up. */
  readonly checkOthers: JoinRequest['checkOthers']
  /** Is called when another node has taken the name of this one: this process must stop. */
  readonly onTaken: () => void
}

export class Membership implements ControlSessionListener {
  readonly bus: PostgresBus
  readonly #session: ControlSession
  readonly #options: MembershipOptions
  readonly #watch: LivenessWatch
  #node: ThisNode | undefined
  /** Nodes whose end was announced. */
  readonly #ended = new Set<number>()
  #unannounced: readonly number[] = []
  #heardSelfAt = 0
  #tickedAt = 0
  #timer: NodeJS.Timeout | undefined
  #nextLook: NodeJS.Timeout | undefined
  #isBeating = false
  #isLeaving = false
  #replacing: Promise<void> | undefined

  private constructor(session: ControlSession, options: MembershipOptions) {
    this.#session = session
    this.#options = options
    this.#watch = new LivenessWatch(() => this.node.id, options.limits)
    this.bus = new PostgresBus({
      process: options.processName,
      nodeId: () => this.#node?.id,
      notify: (notifications) =>
        session.run((client) => client.query({ name: 'notify', text: notifyAll, values: [notifications] })),
      onError: (error) => options.log.error({ reason: (error as Error).stack }, 'message from a node not handled'),
    })
    this.bus.heard('nodeEnded', ({ nodeId }) => void this.#ended.add(nodeId))
  }

  /** Takes a row, or throws the reason why this process must not start. */
  static async start(session: ControlSession, options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(session, options)
    await session.attach(membership)
    return membership
  }

  get node(): ThisNode {
    if (!this.#node) throw new Error('this process is no node yet')
    return this.#node
  }

  async prepare(client: pg.Client): Promise<void> {
    const { url, name, processName, clock, limits, checkOthers } = this.#options
    if (!this.#node) {
      await requireDirectConnection(client, { url, limits }, randomBytes(8).toString('hex'))
      const { id, dead } = await joinNodes(client, { name, processName, at: clock.now, limits, checkOthers })
      this.#node = new ThisNode(name, id)
      for (const row of dead) this.#noteEnded(row, 'earlier node ended without leaving, declared dead')
      return
    }
    if (!(await lockNode(client, this.#node.id))) throw new Error('the lock of this node is taken')
    if (!(await isNodeUp(client, this.#node.id))) await this.#takeNewRow(client)
  }

  connected(): void {
    const isFirst = this.#timer === undefined
    this.#heardSelfAt = performance.now()
    this.bus.connect({ isFirst })
    if (!isFirst) this.#options.log.info('message session is back after the database connection was lost')
    this.#timer ??= setInterval(() => this.#tick(), beatEveryMs)
    this.#tick()
  }

  disconnected(): void {
    this.#options.log.warn('message session lost, connecting again')
    this.#watch.interrupt()
    this.bus.disconnect()
    this.node.noteDisconnected()
  }

  notified(notification: string): void {
    if (this.bus.receive(notification)) this.#heardSelfAt = performance.now()
  }

  /** Is called when a commit failed because this node's row is not up. */
  noteFenced(): void {
    this.#session
      .run(async (client) => {
        if (!(await isNodeUp(client, this.node.id))) await this.#takeNewRow(client)
      })
      // The session is lost: it looks at the row when it is back.
      .catch(() => {})
  }

  /** Ends the row, and with it the presence of every device that is connected here. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    clearInterval(this.#timer)
    clearTimeout(this.#nextLook)
    const { id } = this.node
    await this.#writeLeft(id)
    this.bus.send('nodeEnded', { nodeId: id })
    await this.bus.flush(flushTimeoutMs)
  }

  /** Waits for a session that is being opened again, so the row says that the node has left. */
  async #writeLeft(id: number): Promise<void> {
    const deadline = performance.now() + this.#options.limits.nodeLeaveMs
    while (performance.now() < deadline) {
      try {
        return await this.#session.run((client) => updateClusterLeft(client, id, this.#options.clock.now()))
      } catch {
        await sleep(leavePauseMs)
      }
    }
  }

  #tick(): void {
    if (this.#isLeaving || !this.bus.isConnected) return
    const now = performance.now()
    // A process that was blocked has not sent its beats, so it cannot have heard them.
    if (now - this.#tickedAt > this.#options.limits.ownMessageMs / 2) this.#heardSelfAt = now
    this.#tickedAt = now
    this.bus.sendBeat()
    void this.#beat()
    // The check is repeated after a turn of the event loop: if this process was blocked, the notification is in the socket.
    if (this.#isEchoLate) setImmediate(() => this.#isEchoLate && this.bus.isConnected && this.#session.reconnect())
  }

  get #isEchoLate(): boolean {
    return performance.now() - this.#heardSelfAt > this.#options.limits.ownMessageMs
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return
    this.#isBeating = true
    clearTimeout(this.#nextLook)
    let isRowHeld = false
    try {
      await this.#session.run(async (client) => {
        const rows = await beatAndList(client, this.node.id)
        if (!rows) return this.#takeNewRow(client)
        this.#announceEnded(this.#watch.observe(rows, performance.now()))
        for (const silent of this.#watch.listSilent(performance.now())) {
          if (!silent.isDeadWithLock && (await isNodeLocked(client, silent.row.id))) continue
          isRowHeld = !(await this.#declareDead(client, silent.row))
          if (isRowHeld) break
        }
      })
      const waitMs = isRowHeld ? heldRowPauseMs : this.#watch.untilNextLimitMs(performance.now())
      if (waitMs < beatEveryMs && !this.#isLeaving) this.#nextLook = setTimeout(() => void this.#beat(), waitMs + 1)
    } catch (error) {
      this.#watch.interrupt()
      if (this.bus.isConnected) this.#options.log.warn({ reason: (error as Error).message }, 'beat of this node failed')
    } finally {
      this.#isBeating = false
    }
  }

  /** Returns false if the row is locked, which a frozen process of that node may do. Its sessions are ended then, and the next look declares it dead. */
  async #declareDead(client: pg.Client, row: NodeRow): Promise<boolean> {
    try {
      if (!(await updateDead(client, row, this.#options.clock.now()))) return true
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error
      await endSessionsOf(client, row.process)
      return false
    }
    this.#noteEnded(row, 'node declared dead')
    await endSessionsOf(client, row.process)
    return true
  }

  /** The node that declared these dead, or they themselves, have usually said so. If none of them has until the next beat, this node does. */
  #announceEnded(gone: readonly number[]): void {
    for (const nodeId of this.#unannounced) if (!this.#ended.has(nodeId)) this.bus.send('nodeEnded', { nodeId })
    this.#unannounced = gone
  }

  #noteEnded({ id, name }: NodeRow, message: string): void {
    this.#options.log.warn({ endedNode: name, endedNodeId: id }, message)
    this.bus.send('nodeEnded', { nodeId: id })
  }

  /** This node was declared dead: what it still holds is given up before it goes on under a new id. */
  async #takeNewRow(client: pg.Client): Promise<void> {
    if (this.#isLeaving) return
    this.#replacing ??= this.#replaceRow(client).finally(() => {
      this.#replacing = undefined
    })
    await this.#replacing
  }

  async #replaceRow(client: pg.Client): Promise<void> {
    const { name, processName, clock, limits, log, onTaken } = this.#options
    const before = this.node.id
    this.#watch.interrupt()
    try {
      await this.node.replace(
        // A start is refused because of its options, but a node that serves already goes on.
        async () => (await joinNodes(client, { name, processName, at: clock.now, limits, checkOthers: () => {} })).id,
      )
    } catch (error) {
      if (error instanceof NameTaken) {
        log.error('another node took the name of this node while it was not responding')
        onTaken()
      }
      throw error
    }
    log.warn({ before, nodeId: this.node.id }, 'this node was declared dead, continuing under a new id')
  }
}
