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

/** 0 for a process that has ended, or that runs elsewhere. */
function processCpuMs(pid: number): number {
  try {
    // The name in parentheses can contain spaces. User and system time are the 14th and 15th fields.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * tickMs
  } catch {
    return 0
  }
}
