// Begins requests in their order when more arrive than can be handled, and says which have waited for too long. [contract 7.23]

/**
 * Node accepts one new connection in each turn of its event loop, and everything that became readable is handled in the same turn. So
 * the length of a turn under load decides how soon a new connection, such as that of a health check, is accepted. Requests are
 * handled for this long in a turn; the others wait for the next.
 */
const turnMs = 8
/** A shorter turn after one with a new connection: more connections may wait behind it. */
const turnMsWhileConnecting = 1
/**
 * During turns of this length connections wait to be accepted, and their clients may leave. Node notices that when it reads from a
 * connection for the second time. So for some time after such a turn the first request of a connection waits for that.
 */
const longTurnMs = 50
const cautiousMs = 1_000
const maxWaitMs = 500
/** If fewer requests wait, the delay came from a pause of the process. They are handled even if they are late. */
const minOverloadCount = 50
/**
 * Requests wait here and not for a connection to the database, where they would not be refused in time. So many keep the
 * connections busy until the next check.
 */
const maxWaitingReads = 16
/** The queue looks this often whether the database has room again. */
const busyCheckMs = 5

/** Removing fewer at a time would cost more than their memory. */
const minRemovedCount = 1_000

interface Waiting {
  readonly begin: (isLate: boolean) => void
  readonly arrivedAt: number
  /** The turn in which it arrived; it starts one turn later than the others. Undefined: no extra wait. */
  readonly turn: number | undefined
}

export class RequestQueue {
  #waiting: Waiting[] = []
  /** Index of the first request that has not begun. */
  #next = 0
  /** When the present turn began to handle requests, by the monotonic clock; undefined until it does. */
  #turnBeganAt: number | undefined
  #turnMs = turnMs
  #turn = 0
  #longTurnEndedAt = Number.NEGATIVE_INFINITY
  #isConnecting = false
  #busyCheck: NodeJS.Timeout | undefined
  readonly #waitingReads: () => number

  /** `waitingReads` returns how many reads wait for a connection to the database. */
  constructor(waitingReads: () => number) {
    this.#waitingReads = waitingReads
  }

  /** To be called for each connection that is accepted. */
  noteConnection(): void {
    this.#isConnecting = true
  }

  /** Whether a request that arrives now may begin immediately. `isFirst` is true for the first request of a connection. */
  hasRoom(now: number, isFirst: boolean): boolean {
    if (this.#turnBeganAt === undefined) this.#beginTurn(now)
    if (!this.#isEmpty || (isFirst && this.#isCautious(now)) || this.#isDatabaseBusy) return false
    return now - (this.#turnBeganAt as number) < this.#turnMs
  }

  /** `begin` is called in a later turn. `isLate` is true if the request waited so long that it should be refused. */
  add(arrivedAt: number, isFirst: boolean, begin: Waiting['begin']): void {
    this.#waiting.push({ begin, arrivedAt, turn: isFirst && this.#isCautious(arrivedAt) ? this.#turn : undefined })
  }

  get #isEmpty(): boolean {
    return this.#next === this.#waiting.length
  }

  get #isDatabaseBusy(): boolean {
    return this.#waitingReads() >= maxWaitingReads
  }

  #isCautious(now: number): boolean {
    return now - this.#longTurnEndedAt < cautiousMs
  }

  /** A late request is refused, and needs no room in the database. */
  #isLate({ arrivedAt }: Waiting, now: number): boolean {
    return now - arrivedAt > maxWaitMs && this.#waiting.length - this.#next > minOverloadCount
  }

  #beginTurn(now: number): void {
    clearTimeout(this.#busyCheck)
    this.#turnBeganAt = now
    this.#turnMs = this.#isConnecting ? turnMsWhileConnecting : turnMs
    this.#isConnecting = false
    setImmediate(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    const now = performance.now()
    if (this.#turnBeganAt !== undefined && now - this.#turnBeganAt > longTurnMs) this.#longTurnEndedAt = now
    this.#turnBeganAt = undefined
    this.#turn++
    if (this.#isEmpty) {
      if (this.#next > 0) this.#waiting = []
      this.#next = 0
      return
    }
    // Under a lasting overload the queue is never empty, so begun requests are removed from its front now and then.
    if (this.#next > minRemovedCount && this.#next * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#next)
      this.#next = 0
    }
    if (this.#isDatabaseBusy && !this.#isLate(this.#waiting[this.#next] as Waiting, now)) {
      this.#busyCheck = setTimeout(this.#endTurn, busyCheckMs)
      return
    }
    this.#beginTurn(now)
    this.#step()
  }

  readonly #step = (): void => {
    const waiting = this.#waiting[this.#next]
    if (!waiting) return
    const now = performance.now()
    if (waiting.turn === this.#turn - 1) return
    const isLate = this.#isLate(waiting, now)
    if (!isLate && this.#isDatabaseBusy) return
    this.#waiting[this.#next] = begunRequest
    this.#next++
    waiting.begin(isLate)
    queueMicrotask(this.#scheduleNext)
  }

  /** nextTick callbacks and microtasks of a request run before the next one begins, and count towards the time of the turn. */
  readonly #scheduleNext = (): void => process.nextTick(this.#continueTurn)

  readonly #continueTurn = (): void => {
    if (performance.now() - (this.#turnBeganAt as number) < this.#turnMs) this.#step()
  }
}

/** Replaces a begun request, so that its memory is released. */
const begunRequest: Waiting = { begin: () => {}, arrivedAt: 0, turn: undefined }
