// CPU time of work in this process and of what it asks of PostgreSQL: unlike elapsed time, other programs on the machine do not increase it.
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Database } from '../../src/server/db/db.ts'

/** The usual length of a clock tick of Linux, in which /proc counts. */
const tickMs = 10

/** The CPU time of this thread in milliseconds. */
export function threadCpuMs(): number {
  // Linux counts a thread up to now only when the whole process is asked; else the figure is as old as the last timer tick, up to 4 ms.
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The CPU milliseconds of this thread and of the sessions of its database, if PostgreSQL is on this machine. */
export async function cpuMs(db: Database): Promise<number> {
  if (db.engine === 'sqlite') return threadCpuMs()
  const { rows } = await sql<{
    pid: number
  }>`select pid from pg_stat_activity where datname = current_database()`.execute(db.schema)
  return threadCpuMs() + rows.reduce((sum, { pid }) => sum + processCpuMs(pid), 0)
}

/** The CPU time of all threads of a process. 0 for a process that has ended, or that runs elsewhere. */
export function processCpuMs(pid: number): number {
  try {
    // The name in parentheses can contain spaces. User and system time are the 14th and 15th fields.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * tickMs
  } catch {
    return 0
  }
}

interface ThreadTimes {
  /** How long the thread has run. */
  readonly ranMs: number
  /** How long it could have run, while others used the processors. */
  readonly waitedMs: number
}

/** The times of the main thread of a process, which Linux counts in nanoseconds. Both are 0 on other systems. */
export function mainThreadTimes(pid: number): ThreadTimes {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
    return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 }
  } catch {
    return { ranMs: 0, waitedMs: 0 }
  }
}

/**
 * Counts how long this process and others wait for a processor from now on, in milliseconds. A test adds it to a limit of elapsed time, which
 * then holds on a busy machine too. On other systems it is 0.
 */
export function countCpuWaits(...pids: readonly number[]): () => number {
  const waitedMs = () => [process.pid, ...pids].reduce((sum, pid) => sum + mainThreadTimes(pid).waitedMs, 0)
  const before = waitedMs()
  return () => waitedMs() - before
}

const sampleEveryMs = 250

/** Watches how long processes wait for a processor: on a busy machine everything that they do takes that much longer. */
export class CpuWaits {
  readonly #pids: () => readonly number[]
  readonly #samples: { readonly at: number; readonly waitedMs: ReadonlyMap<number, number> }[] = []
  readonly #timer: NodeJS.Timeout

  constructor(pids: () => readonly number[]) {
    this.#pids = pids
    this.#sample()
    this.#timer = setInterval(() => this.#sample(), sampleEveryMs)
  }

  /** The longest time that one of the processes waited within any period of this length. */
  longestMs(periodMs: number): number {
    let longest = 0
    let first = 0
    for (const { at, waitedMs } of this.#samples) {
      while (at - (this.#samples[first]?.at ?? at) > periodMs) first++
      const before = this.#samples[first]?.waitedMs
      for (const [pid, ms] of waitedMs) longest = Math.max(longest, ms - (before?.get(pid) ?? ms))
    }
    return Math.ceil(longest)
  }

  stop(): void {
    this.#sample()
    clearInterval(this.#timer)
  }

  #sample(): void {
    const waitedMs = new Map(this.#pids().map((pid) => [pid, mainThreadTimes(pid).waitedMs]))
    this.#samples.push({ at: performance.now(), waitedMs })
  }
}
