// The memory that a process has in use, as Linux counts it.
import { readFileSync } from 'node:fs'

/** In MiB: now, and the most since it started. */
export function residentMiB(pid: number): { readonly now: number; readonly most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const [now = 0, most = 0] = ['VmRSS', 'VmHWM'].map((name) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1024),
  )
  return { now, most }
}
