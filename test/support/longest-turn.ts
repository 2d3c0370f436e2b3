// How long others wait for their turn while something runs, counted in the work of this thread.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { threadCpuMs } from './cpu-time.ts'
import { cpuLimitMs } from './long-form.ts'

/** The longest turn of the event loop while something runs. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, running] = [0, threadCpuMs(), true]
  const look = () => {
    const at = threadCpuMs()
    longest = Math.max(longest, at - last)
    last = at
    if (running) setImmediate(look)
  }
  setImmediate(look)
  await work()
  running = false
  look()
  return longest
}

/** The limit of CPU time for one body or message in one turn of the event loop, the sender in the same process included. */
const longestAllowedMs = cpuLimitMs(20)
/** Other work may fall into a turn, such as collecting garbage, and a busy machine makes the same work take more CPU time: the shortest of these counts. */
const tries = 10
const pauseMs = 50

/** The longest turn of the event loop while something runs: the shortest of several runs, or the first that is within the limit. */
export async function shortestOfLongestTurns(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries && shortest > limitMs; i++) {
    if (i > 0) await pause(pauseMs)
    shortest = Math.min(shortest, await longestTurn(work))
  }
  return shortest
}

export async function expectShortTurns(name: string, work: () => Promise<unknown>): Promise<void> {
  const shortest = await shortestOfLongestTurns(longestAllowedMs, work)
  if (shortest > longestSeen.ms) longestSeen = { name, ms: shortest }
  expect(shortest, name).toBeLessThanOrEqual(longestAllowedMs)
}

let longestSeen = { name: '', ms: 0 }

/** Prints the longest turn since the last call. */
export function printLongestTurn(subject: string): void {
  process.stdout.write(`longest turn ${subject}: ${longestSeen.ms.toFixed(1)} ms of CPU (${longestSeen.name})\n`)
  longestSeen = { name: '', ms: 0 }
}
