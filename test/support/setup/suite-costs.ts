// With SUITE_COSTS=<file>, writes a line for each suite: CPU seconds of its worker and of the processes that the worker started,
// seconds, database, and name. The loading of its modules is counted, and for the first suite of a worker the start of the worker.
// Says where the time of `npm test` goes; a cluster of PostgreSQL is not counted.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'

const file = process.env.SUITE_COSTS
const ticksPerSecond = 100

interface ProcessTicks {
  readonly parent: number
  /** The ticks of the process and of its children that have ended. */
  readonly ticks: number
}

/** Reads /proc/PID/stat. The name of the program, in parentheses, can have spaces. */
function readTicks(pid: string): ProcessTicks | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[1]), ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) }
  } catch {
    return undefined
  }
}

function cpuSeconds(): number {
  const processes = new Map<number, ProcessTicks>()
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) && readTicks(name)
    if (found) processes.set(Number(name), found)
  }
  const isOfWorker = (pid: number): boolean =>
    pid === process.pid || (pid > 1 && isOfWorker(processes.get(pid)?.parent ?? 0))
  let sum = 0
  for (const [pid, { ticks }] of processes) if (isOfWorker(pid)) sum += ticks
  return sum / ticksPerSecond
}

/** The cost of all suites of this worker so far. Vitest loads this file again for each suite. */
const worker = globalThis as { countedCpuSeconds?: number }

if (file) {
  let at = 0
  beforeAll(() => {
    at = performance.now()
  })
  afterAll(() => {
    const cpu = cpuSeconds()
    const costs = [cpu - (worker.countedCpuSeconds ?? 0), (performance.now() - at) / 1000]
    worker.countedCpuSeconds = cpu
    const suite = relative('.', expect.getState().testPath ?? '')
    const texts = [...costs.map((seconds) => seconds.toFixed(1)), process.env.TEST_ENGINE ?? 'none', suite]
    appendFileSync(file, `${texts.join(' ')}\n`)
  })
}
