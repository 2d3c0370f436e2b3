// The client of a command: it waits when the server asks for it, and its errors are sentences.
import { type Client, type ClientOptions, makeClient } from '../../client/client.ts'
import { type Waiting, waitingFetch } from '../../client/waiting-fetch.ts'
import { CommandError } from '../terminal/command-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type ConnectionOptions, connectionOf } from './connection.ts'
import type { ServerConnection } from './context-file.ts'

export interface Connected {
  readonly connection: ServerConnection
  readonly client: Client
  /** A client whose waits end with the signal. */
  readonly clientUntil: (stop: AbortSignal) => Client
  /** The client was made with these options. */
  readonly clientOptions: ClientOptions
}

/** Sends nothing yet. Throws a `CommandError` if no server is known. */
export function connectToServer(terminal: Terminal, options: ConnectionOptions): Connected {
  const connection = connectionOf(terminal, options)
  const clientOptions = clientOptionsOf(terminal, connection)
  const clientUntil = (stop: AbortSignal) => makeClient(clientOptionsOf(terminal, connection, stop))
  return { connection, client: makeClient(clientOptions), clientUntil, clientOptions }
}

export const clientOptionsOf = (
  terminal: Terminal,
  { baseUrl, org, key }: ServerConnection,
  stop?: AbortSignal,
): ClientOptions => ({
  baseUrl,
  org,
  token: key,
  fetch: waitingFetch(waitMessages(terminal), reachingFetch(baseUrl), stop),
})

/** Under a rate limit each request of an import waits, so only one wait in this time is reported. */
const waitMessageEveryMs = 10_000

function waitMessages(terminal: Terminal): (waiting: Waiting) => void {
  const reportedAt = new Map<number, number>()
  return ({ seconds, status }) => {
    const now = performance.now()
    if (now - (reportedAt.get(status) ?? Number.NEGATIVE_INFINITY) < waitMessageEveryMs) return
    reportedAt.set(status, now)
    terminal.writeError(`The server asks to wait ${seconds} s (${waitReasons[status] ?? 'it is not available'}).`)
  }
}

const waitReasons: Readonly<Record<number, string>> = {
  409: 'an earlier request still runs',
  429: 'too many requests',
}

/** Turns an error of the network into a sentence that names the server. */
const reachingFetch =
  (baseUrl: string): typeof fetch =>
  async (input, init) => {
    try {
      return await fetch(input, init)
    } catch (error) {
      if (init?.signal?.aborted) throw error
      const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException }
      throw new CommandError(
        `Cannot reach ${baseUrl} (${cause?.code ?? cause?.message ?? message}). Check the address and the network, or choose another server with --context.`,
      )
    }
  }
