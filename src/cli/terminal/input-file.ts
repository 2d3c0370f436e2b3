// Reads the file that a command was given, and stops when it is too large.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { CommandError } from './command-error.ts'
import { fileProblem } from './file-problem.ts'

const chunkBytes = 1024 * 1024

/**
 * `checkSize` throws if a file of so many bytes is too large. A regular file is checked before it is read; a pipe, which has no size, while
 * it is read.
 */
export function readInputFile(file: string, checkSize: (bytes: number) => void): Buffer {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    checkSize(fstatSync(descriptor).size)
    const chunks: Buffer[] = []
    for (let size = 0; ; ) {
      const chunk = Buffer.allocUnsafe(chunkBytes)
      const count = readSync(descriptor, chunk)
      if (count === 0) return Buffer.concat(chunks, size)
      chunks.push(chunk.subarray(0, count))
      size += count
      checkSize(size)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new CommandError(`Cannot read ${file}: ${fileProblem(error)}`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
