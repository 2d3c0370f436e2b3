// Runs a scheduled task again and again: never two runs at once, and a failed run is followed by the next.
import type { Log } from './log.ts'

/** Returns the function that stops the task after its current run. A long run should check the signal. */
export function repeat(
  pauseMs: number,
  name: string,
  log: Log,
  work: (signal: AbortSignal) => Promise<unknown>,
): () => Promise<void> {
  let currentRun: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout
  const stop = new AbortController()
  const run = () => {
    currentRun = work(stop.signal)
      .catch((error) => log.warn({ reason: (error as Error).message }, `${name} failed, trying again`))
      .then(() => {
        if (!stop.signal.aborted) timer = setTimeout(run, pauseMs)
      })
  }
  timer = setTimeout(run, pauseMs)
  return async () => {
    stop.abort()
    clearTimeout(timer)
    await currentRun
  }
}
