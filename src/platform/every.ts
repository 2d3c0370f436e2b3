// Work that comes back: one run after the other, never two at once, and a failure only skips its turn.
import type { Log } from './log.ts'

/** Starts it; what it returns stops it, after the run that is under way. */
export function every(ms: number, what: string, log: Log, work: () => Promise<unknown>): () => Promise<void> {
  let underWay: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout
  let stopped = false
  const run = () => {
    underWay = work()
      .catch((error) => log.warn({ reason: (error as Error).message }, `${what}: did not work, trying again`))
      .then(() => {
        if (!stopped) timer = setTimeout(run, ms)
      })
  }
  timer = setTimeout(run, ms)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await underWay
  }
}
