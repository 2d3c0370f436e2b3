// When the machine was started, and which start this is.
import { join } from 'node:path'
import { readText } from './files.ts'

/** A new one at each start of the kernel. */
export const readBootId = (root: string): Promise<string | undefined> =>
  readText(join(root, 'proc/sys/kernel/random/boot_id'))

/** The kernel corrects this time when the clock is set. */
export async function readStartedAt(root: string): Promise<Date | undefined> {
  const [, seconds] = /^btime (\d+)$/m.exec((await readText(join(root, 'proc/stat'))) ?? '') ?? []
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000)
}
