// Reads the memory and the CPU time of processes from /proc, including the programs that they have run.
import { readdirSync, readFileSync } from 'node:fs'

/** The length of a clock tick of Linux. */
const tickSeconds = 0.01

interface ProcessCosts {
  /** Resident. */
  readonly bytes: number
  readonly cpuSeconds: number
}

/** The sums of several processes. */
export function costsOf(pids: readonly number[]): ProcessCosts {
  const costs = pids.map((pid) => {
    const [, kibibytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    // The name in parentheses can contain spaces. The fields after it: 11 and 12 are own user and system time, 13 and 14 that of ended children.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { bytes: Number(kibibytes) * 1024, cpuSeconds: ticks * tickSeconds }
  })
  const sum = (of: keyof ProcessCosts) => costs.reduce((total, one) => total + one[of], 0)
  return { bytes: sum('bytes'), cpuSeconds: sum('cpuSeconds') }
}

/** A process and the processes that it has started, with theirs. */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(processTree)]
}
