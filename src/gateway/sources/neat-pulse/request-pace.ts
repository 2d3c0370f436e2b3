// Gives the requests to a source their turns: at most two within a time, commands first, and none while the source asks for a pause.

/** The most urgent first. */
export const turnKinds = ['command', 'list', 'changed', 'round'] as const
export type TurnKind = (typeof turnKinds)[number]

/** With two turns within a time, a turn that comes late on a busy machine does not delay all that follow. */
const turnsWithinTime = 2

export class RequestPace {
  readonly #withinMs: number
  /** The latest turns, oldest first. */
  #turnsAtMs: readonly number[] = []
  readonly #waiting = Object.fromEntries(turnKinds.map((kind) => [kind, new Set<() => void>()])) as Record<
    TurnKind,
    Set<() => void>
  >
  #pausedUntilMs = 0
  #timer: NodeJS.Timeout | undefined

  /** At most two turns come within this time. */
  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  /** How long the source still wants no requests. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - performance.now())
  }

  pauseFor(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + ms)
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#schedule()
  }

  /** Resolves when a request can be sent. Rejects if the signal is aborted before. */
  turn(kind: TurnKind, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const waiting = this.#waiting[kind]
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.delete(start)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(start)
      this.#schedule()
    })
  }

  get #nextMs(): number {
    const [oldestMs = 0] = this.#turnsAtMs
    const isFull = this.#turnsAtMs.length === turnsWithinTime
    return Math.max(this.#pausedUntilMs, isFull ? oldestMs + this.#withinMs : 0)
  }

  #schedule(): void {
    if (this.#timer || !this.#first()) return
    this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(this.#nextMs - performance.now())))
  }

  #next(): void {
    this.#timer = undefined
    const first = this.#first()
    if (!first) return
    // A timer can be a moment early.
    if (performance.now() < this.#nextMs) {
      this.#schedule()
      return
    }
    this.#turnsAtMs = [...this.#turnsAtMs, performance.now()].slice(-turnsWithinTime)
    for (const kind of turnKinds) this.#waiting[kind].delete(first)
    first()
    this.#schedule()
  }

  #first(): (() => void) | undefined {
    for (const kind of turnKinds) for (const start of this.#waiting[kind]) return start
    return undefined
  }
}
