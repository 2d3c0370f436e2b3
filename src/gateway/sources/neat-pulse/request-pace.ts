// Gives the requests to a source their turns: at most two within a time, commands first, and none while the source asks for a pause.
import { minuteMs } from '../../../contract/durations.ts'

/** The most urgent first. */
export const turnKinds = ['command', 'list', 'changed', 'round'] as const
export type TurnKind = (typeof turnKinds)[number]

const turnsWithinTime = 2
/** Turns are due a little less often than they can come: on a busy machine they come late, and then catch up. */
const dueShare = 1.03
/** Longer delays are not caught up with. */
const maxBehindMs = minuteMs

interface Turn {
  readonly atMs: number
  readonly dueAtMs: number
}

/** When the next turn can come, and when it would be due if no turn had been late. */
export function nextTurn(turns: readonly Turn[], wantedAtMs: number, withinMs: number): Turn {
  const oldest = turns.at(-turnsWithinTime)
  if (!oldest) return { atMs: wantedAtMs, dueAtMs: wantedAtMs }
  const dueAtMs = Math.max(wantedAtMs, oldest.dueAtMs + withinMs * dueShare)
  return { atMs: Math.max(dueAtMs, oldest.atMs + withinMs), dueAtMs }
}

export class RequestPace {
  readonly #withinMs: number
  /** The latest turns, oldest first. */
  #turns: readonly Turn[] = []
  /** Since when a request waits without a break; undefined while none does. */
  #waitingSinceMs: number | undefined
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

  /** Whether a new pace would do the same. */
  get isFresh(): boolean {
    const latest = this.#turns.at(-1)
    return this.pauseMs === 0 && !this.#first() && (!latest || performance.now() - latest.atMs >= this.#withinMs)
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
      this.#waitingSinceMs ??= performance.now()
      this.#schedule()
    })
  }

  get #next(): Turn {
    const wantedAtMs = Math.max(this.#pausedUntilMs, this.#waitingSinceMs ?? 0)
    return nextTurn(this.#turns, wantedAtMs, this.#withinMs)
  }

  #schedule(): void {
    if (this.#timer || !this.#first()) return
    this.#timer = setTimeout(() => this.#give(), Math.max(0, Math.ceil(this.#next.atMs - performance.now())))
  }

  #give(): void {
    this.#timer = undefined
    const first = this.#first()
    if (!first) {
      this.#waitingSinceMs = undefined
      return
    }
    const { atMs, dueAtMs } = this.#next
    const now = performance.now()
    // A timer can be a moment early.
    if (now < atMs) {
      this.#schedule()
      return
    }
    this.#turns = [...this.#turns, { atMs: now, dueAtMs: Math.max(dueAtMs, now - maxBehindMs) }].slice(-turnsWithinTime)
    for (const kind of turnKinds) this.#waiting[kind].delete(first)
    first()
    if (!this.#first()) this.#waitingSinceMs = undefined
    this.#schedule()
  }

  #first(): (() => void) | undefined {
    for (const kind of turnKinds) for (const start of this.#waiting[kind]) return start
    return undefined
  }
}

/** The paces of the upstreams: everything that asks the same organisation at the same address shares one, and its pauses. */
export class RequestPaces {
  readonly #withinMs: number
  readonly #entries = new Map<string, { readonly pace: RequestPace; userCount: number }>()

  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  /** Call `release` once, when the user sends no more. */
  acquire({ url, orgId = '' }: { readonly url: string; readonly orgId?: string | undefined }) {
    this.#forgetUnused()
    const upstream = `${new URL(url).origin} ${orgId}`
    const entry = this.#entries.get(upstream) ?? { pace: new RequestPace(this.#withinMs), userCount: 0 }
    this.#entries.set(upstream, entry)
    entry.userCount++
    return { pace: entry.pace, release: () => void entry.userCount-- }
  }

  /** A pace outlives its users until its pause is over and its last requests no longer count. */
  #forgetUnused(): void {
    for (const [upstream, { pace, userCount }] of this.#entries)
      if (userCount === 0 && pace.isFresh) this.#entries.delete(upstream)
  }
}
