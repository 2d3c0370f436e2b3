// Loads the code of a page or a part of one, and marks failures, which only loading the whole console again can repair.

/** A file of the console could not be loaded: there is no connection, or the server has another build without that file. */
export class CodeLoadError extends Error {
  constructor(cause: unknown) {
    super('A part of the console could not be loaded.', { cause })
    this.name = 'CodeLoadError'
  }
}

/**
 * Every dynamic import of the console goes through here. The messages of browsers and of Vite differ, so any failure counts.
 * The router would reload immediately after a failed import, which shows the browser's own error page while the server is down.
 */
export const loadCode = <T>(importModule: () => Promise<T>): Promise<T> =>
  importModule().catch((cause: unknown) => {
    throw new CodeLoadError(cause)
  })
