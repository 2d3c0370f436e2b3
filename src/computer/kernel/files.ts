// Reads the kernel's lists below a folder that stands for the root of the file system, which tests replace.
import { readdir, readFile, realpath } from 'node:fs/promises'

/** The text of a file without spaces around it. Undefined if it cannot be read, as files of absent hardware cannot. */
export const readText = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  )

export const readBytes = (path: string): Promise<Buffer | undefined> => readFile(path).catch(() => undefined)

/** The names in a folder, in an order that does not change; empty if there is no such folder. */
export const listNames = (path: string): Promise<string[]> =>
  readdir(path).then(
    (names) => names.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    () => [],
  )

/** The absolute path to which a symbolic link leads. */
export const linkTarget = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)
