// Writes the file that a command was asked for with --output.
import { accessSync, constants, createWriteStream, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandError } from './command-error.ts'
import { fileProblem } from './file-problem.ts'

interface OutputOptions {
  /** Only the user can read the file, even if it existed before with another mode. */
  readonly isPrivate?: boolean
}

/** A file appears under its name when it is whole. */
export async function writeOutput(
  file: string,
  content: string | Readable,
  { isPrivate = false }: OutputOptions = {},
): Promise<void> {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? true
  // A device such as /dev/stdout must not be replaced by a file.
  const part = isFile ? `${file}.part` : file
  try {
    // The mode below is for a new file only.
    if (isFile) rmSync(part, { force: true })
    await pipeline(
      typeof content === 'string' ? [content] : content,
      createWriteStream(part, { mode: isPrivate ? 0o600 : 0o666 }),
    )
    if (isFile) renameSync(part, file)
  } catch (error) {
    if (isFile) rmSync(part, { force: true })
    throw cannotWrite(file, error)
  }
}

/** Long work checks first that its result can be written. */
export function checkOutput(file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw cannotWrite(file, { code: 'EISDIR' })
  }
}

function cannotWrite(file: string, error: unknown): CommandError {
  return new CommandError(`Cannot write ${file}: ${fileProblem(error)}`)
}
