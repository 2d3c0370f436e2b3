// Decides which scheduled tasks this node runs: each has one holder in the cluster, which the table of tasks names.
import type { MessageBus } from '../bus/message-bus.ts'
import type { Log } from '../core/log.ts'
import type { Database } from '../db/db.ts'
import { claimTasks, countNodesUp, isHeldBy, listHeldTasks, releaseTasks, type TaskKey } from './task-store.ts'
import type { ThisNode } from './this-node.ts'

/** The table of tasks is read this often. Messages about nodes that ended and tasks that were released make it sooner. */
const refreshMs = 5_000
/** A part that no node held at the last refresh, such as a new organisation, leads to a refresh, but not more often than this. */
const newPartPauseMs = 500

/** Thrown by a transaction of a task that another node holds now. */
export class TaskMoved extends Error {
  override readonly message = 'Another node holds this scheduled task now, and nothing was changed.'
}

export interface ClusterTask {
  readonly name: string
  /** Lists the parts of a task that the nodes share, such as the keys of all organisations. */
  readonly listParts?: () => Promise<readonly number[]>
}

/** A task, or a part of one, that this node runs. */
export interface HeldTask {
  /** Is aborted when the node must stop the task. */
  readonly signal: AbortSignal
  /** Refuses every transaction once the node does not hold the task any more. */
  readonly db: Database
}

interface Held extends HeldTask {
  readonly stop: () => void
}

interface TaskHoldersOptions {
  readonly db: Database
  readonly node: Pick<ThisNode, 'id' | 'onReplaced' | 'onDisconnected'>
  readonly bus: MessageBus
  readonly log: Log
}

export class TaskHolders {
  readonly #options: TaskHoldersOptions
  readonly #tasks: readonly ClusterTask[]
  readonly #held = new Map<string, Held>()
  /** The tasks that any node held at the last refresh. */
  #heldAnywhere: ReadonlySet<string> = new Set()
  #newPartAt = -newPartPauseMs
  #timer: NodeJS.Timeout | undefined
  #refreshing: Promise<void> = Promise.resolve()
  /** Raised to discard the result of a refresh that is under way. */
  #epoch = 0
  /** True if a node has ended since the last refresh. Only then is it logged that tasks were taken over: those of a new organisation are free too. */
  #hasNodeEnded = false
  #isStopped = false
  /** True while the session for messages is lost. */
  #isDisconnected = false

  constructor(options: TaskHoldersOptions, tasks: readonly ClusterTask[]) {
    this.#options = options
    this.#tasks = tasks
  }

  start(): void {
    const { bus, node } = this.#options
    node.onDisconnected(() => {
      this.#isDisconnected = true
      this.#stopAll()
    })
    bus.lost(() => {
      this.#isDisconnected = false
      this.#stopAll()
    })
    node.onReplaced(() => this.#stopAll())
    bus.heard('nodeEnded', () => {
      this.#hasNodeEnded = true
      void this.refresh()
    })
    bus.heard('tasksReleased', (_, { isSelf }) => {
      if (!isSelf) void this.refresh()
    })
    this.#timer = setInterval(() => void this.refresh(), refreshMs).unref()
    void this.refresh()
  }

  /** Returns undefined if this node must not run the task now. */
  find(name: string, part = 0): HeldTask | undefined {
    const key = keyText([name, part])
    if (!this.#heldAnywhere.has(key)) this.#refreshForNewPart()
    return this.#held.get(key)
  }

  #refreshForNewPart(): void {
    const now = performance.now()
    if (now - this.#newPartAt < newPartPauseMs) return
    this.#newPartAt = now
    void this.refresh()
  }

  /** Takes tasks that no living node holds, and stops those that this node has lost. Never fails. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing
      .then(() => this.#refresh())
      .catch(({ message }) => this.#options.log.warn({ reason: message }, 'scheduled tasks not checked, trying again'))
    return this.#refreshing
  }

  /** Stops all tasks. Must be called before the caller waits for their current runs. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
    this.#stopAll()
  }

  /** Lets other nodes take the tasks immediately, and not only when this node has left. Must be called after all runs ended. */
  async release(): Promise<void> {
    await this.#refreshing
    const { db, node, bus } = this.#options
    try {
      const held = (await listHeldTasks(db.system)).filter(({ node_id }) => node_id === node.id)
      if (held.length === 0) return
      await this.#release(held.map(({ name, part }) => [name, part]))
      bus.send('tasksReleased', {})
    } catch {
      // The tasks are free when this node has left, or was declared dead.
    }
  }

  async #refresh(): Promise<void> {
    if (this.#isStopped || this.#isDisconnected) return
    const { db, node, bus, log } = this.#options
    const epoch = this.#epoch
    const { id } = node
    const rows = await listHeldTasks(db.system)
    const mine = rows.filter(({ node_id }) => node_id === id).map(({ name, part }): TaskKey => [name, part])
    const plan = await this.#plan(rows, mine)
    if (plan.release.length > 0) await this.#release(plan.release)
    const claimed = await this.#claim(plan.claim)
    if (plan.release.length > 0) bus.send('tasksReleased', {})
    if (epoch !== this.#epoch || this.#isStopped) return
    const released = new Set(plan.release.map(keyText))
    this.#heldAnywhere = new Set([...rows.map(({ name, part }) => keyText([name, part])), ...claimed.map(keyText)])
    this.#setHeld([...mine.filter((key) => !released.has(keyText(key))), ...claimed])
    if (claimed.length > 0 && this.#hasNodeEnded) log.info({ tasks: describe(claimed) }, 'scheduled tasks taken over')
    this.#hasNodeEnded = false
  }

  /** Every node holds at most its share of the parts of a task, so that a node that joins gets some. */
  async #plan(
    rows: readonly { name: string; part: number }[],
    mine: readonly TaskKey[],
  ): Promise<{ claim: TaskKey[]; release: TaskKey[] }> {
    const heldSomewhere = new Set(rows.map(({ name, part }) => keyText([name, part])))
    const isFree = (key: TaskKey) => !heldSomewhere.has(keyText(key))
    const claim: TaskKey[] = []
    const release: TaskKey[] = []
    let nodes: number | undefined
    for (const { name, listParts } of this.#tasks) {
      if (!listParts) {
        if (isFree([name, 0])) claim.push([name, 0])
        continue
      }
      nodes ??= (await countNodesUp(this.#options.db.system))?.count || 1
      const parts = await listParts()
      const share = Math.ceil(parts.length / nodes)
      const own = mine.filter((key) => key[0] === name)
      release.push(...own.slice(share))
      const free = parts.map((part): TaskKey => [name, part]).filter(isFree)
      claim.push(...free.slice(0, Math.max(0, share - own.length)))
    }
    return { claim, release }
  }

  async #claim(keys: readonly TaskKey[]): Promise<TaskKey[]> {
    if (keys.length === 0) return []
    const { db, node } = this.#options
    const sorted = keys.toSorted(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : i - j))
    const rows = await db.systemTransaction((tx) => claimTasks(tx, { node: node.id, keys: sorted }))
    return rows.map(({ name, part }) => [name, part])
  }

  async #release(keys: readonly TaskKey[]): Promise<void> {
    const { db, node } = this.#options
    for (const key of keys) this.#drop(keyText(key))
    await db.systemTransaction((tx) => releaseTasks(tx, { node: node.id, keys }))
  }

  #setHeld(keys: readonly TaskKey[]): void {
    const wanted = new Set(keys.map(keyText))
    for (const text of this.#held.keys()) if (!wanted.has(text)) this.#drop(text)
    for (const key of keys) if (!this.#held.has(keyText(key))) this.#held.set(keyText(key), this.#hold(key))
  }

  #hold([name, part]: TaskKey): Held {
    const { db, node } = this.#options
    const stopping = new AbortController()
    const held = { name, part, node: node.id }
    const guarded = db.guardedBy(async (tx) => {
      if (!(await isHeldBy(tx, held))) throw new TaskMoved()
    })
    return { signal: stopping.signal, db: guarded, stop: () => stopping.abort() }
  }

  #drop(text: string): void {
    this.#held.get(text)?.stop()
    this.#held.delete(text)
  }

  #stopAll(): void {
    this.#epoch++
    for (const text of [...this.#held.keys()]) this.#drop(text)
    if (!this.#isStopped) void this.refresh()
  }
}

const keyText = ([name, part]: TaskKey): string => `${name}/${part}`

/** Names the parts of a task by their number only: there may be thousands. */
function describe(keys: readonly TaskKey[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [name] of keys) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
