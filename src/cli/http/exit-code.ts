// The exit code of a command whose request was refused.
import type { ExitCodeOf } from '../terminal/run-program.ts'

/**
 * The message of an `ApiError` is the server's sentence. The class is known by its name here: its file loads the table of operations, which
 * most commands do not need.
 */
export const exitCodeOfHttp: ExitCodeOf = (error) =>
  error instanceof Error && error.name === 'ApiError' ? 1 : undefined
