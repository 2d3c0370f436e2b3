// fetch() for the console, with an error of its own for requests that no server answered.

export class ServerUnreachableError extends Error {
  constructor(options?: ErrorOptions) {
    super('Can’t reach the server. Check your connection, then try again.', options)
    this.name = 'ServerUnreachableError'
  }
}

/** fetch() rejects with a TypeError if there is no answer, but programming errors are TypeErrors too. */
export const reachableFetch: typeof fetch = (input, init) =>
  fetch(input, init).catch((error: unknown) => {
    throw error instanceof TypeError ? new ServerUnreachableError({ cause: error }) : error
  })
