// A bar for long work, on standard error: it is shown only on a terminal.
import type { Terminal } from './terminal.ts'

const width = 24
/** A terminal far away gets no more than this. */
const everyMs = 100

export class Progress {
  readonly #terminal: Terminal
  readonly #title: string
  readonly #total: number | undefined
  #done = 0
  #shownAt = Number.NEGATIVE_INFINITY

  /** Without a total, only the number of steps is shown. */
  constructor(terminal: Terminal, title: string, total?: number) {
    this.#terminal = terminal
    this.#title = title
    this.#total = total
    this.#show()
  }

  advance(steps = 1): void {
    this.#done += steps
    const now = performance.now()
    if (now - this.#shownAt < everyMs && this.#done !== this.#total) return
    this.#shownAt = now
    this.#show()
  }

  /** Removes the bar. Call it in a `finally`. */
  end(): void {
    this.#terminal.showProgress('')
  }

  #show(): void {
    this.#terminal.showProgress(progressLine(this.#title, this.#done, this.#total))
  }
}

/** Shows a bar while the work runs. Ctrl+C aborts the signal, with which the work ends after the requests that are under way. */
export async function withProgress<T>(
  terminal: Terminal,
  { title, total }: { readonly title: string; readonly total: number },
  work: (onStep: () => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  if (total > 0) void terminal.untilStopped().then(() => stop.abort())
  const progress = new Progress(terminal, title, total)
  try {
    return await work(() => progress.advance(), stop.signal)
  } finally {
    progress.end()
  }
}

export function progressLine(title: string, done: number, total: number | undefined): string {
  if (total === undefined) return `${title} ${done}`
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.floor(share * width)
  return `${title} [${'#'.repeat(full)}${'.'.repeat(width - full)}] ${done}/${total}`
}
