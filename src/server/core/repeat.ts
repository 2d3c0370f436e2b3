// Repeats scheduled tasks, and the steps of one that takes a limited number of rows at a time.
import type { Log } from './log.ts'

/**
 * Runs a task again and again: never two runs at the same time, and a failed run is followed by the next. Returns the function that stops the task
 * after its current run. A long run should check the signal.
 */
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

/** Repeats the step until it returns fewer rows than `limit`, or the signal is aborted: the next run of the task goes on then. */
export async function repeatSteps(
  limit: number,
  step: () => Promise<readonly unknown[]>,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted) {
    const rows = await step()
    if (rows.length < limit) return
  }
}
