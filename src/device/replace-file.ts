// Replaces a file as a whole: after a power cut it is the old one or the new one. Only its owner can read it.
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A process that is killed while it writes leaves a file with this ending. */
export const draftEnding = '.tmp'

/** Resolves when the new content is durable. */
export async function replaceFile(file: string, content: object): Promise<void> {
  const draft = `${file}${draftEnding}`
  try {
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.writeFile(JSON.stringify(content))
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  // Without this sync a power cut can bring the old file back.
  const folder = await open(dirname(file), 'r')
  await folder.sync().finally(() => folder.close())
}
