// Makes a file, or the names in a folder, survive a power cut.
import { open } from 'node:fs/promises'

export async function syncPath(path: string): Promise<void> {
  const opened = await open(path, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
