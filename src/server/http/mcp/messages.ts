// The messages between the server and the thread in which tools run.
import type { McpCaller } from '../../../mcp/mcp-server.ts'

export interface McpThreadData {
  /** Signs confirmations. */
  readonly key: Uint8Array
  readonly version: string
}

/** A request to /mcp. */
export interface ToolRequest {
  readonly kind: 'request'
  readonly id: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly caller: McpCaller
  readonly org: string
  readonly now: number
}

/** A request of a tool to the API. */
export interface ApiRequest {
  readonly kind: 'api request'
  /** The request to /mcp for which it is. */
  readonly id: number
  readonly number: number
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** A part of the body of an answer: a list of thousands of rooms has megabytes, which would be copied in one turn. */
export interface ApiPiece {
  readonly kind: 'api piece'
  readonly number: number
  readonly piece: Uint8Array
}

/** Follows the pieces of its body. */
export interface ApiAnswer {
  readonly kind: 'api answer'
  readonly number: number
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** The answer to a request to /mcp. */
export interface ToolAnswer {
  readonly kind: 'answer'
  readonly id: number
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type ToThread = ToolRequest | ApiPiece | ApiAnswer
export type FromThread = ApiRequest | ToolAnswer
