// Finds where the databases of a test run are cheapest: in memory, if the machine has enough.
import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memoryFolder = '/dev/shm'
const minFreeMemoryBytes = 4 * 1024 ** 3

/** Returns a folder for data that need not survive a power cut: there a commit waits for no disk, and files cost less CPU. */
export function folderInMemory(): string {
  if (!existsSync(memoryFolder)) return tmpdir()
  const { bavail, bsize } = statfsSync(memoryFolder)
  return bavail * bsize < minFreeMemoryBytes ? tmpdir() : memoryFolder
}
