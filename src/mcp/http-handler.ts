// Serves the tools over streamable HTTP. Each request stands alone: there are no sessions, and nothing is kept between requests.
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import { makeClient } from '../client/client.ts'
import { Confirmations, type Sign } from './confirmation.ts'
import { type McpCaller, makeMcpServer } from './mcp-server.ts'

export interface McpRequest {
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON. */
  readonly body: unknown
  readonly caller: McpCaller
  readonly org: string
  /** The time at which the request arrived. */
  readonly now: number
  /** Sends a request of a tool to the API, with the key of the caller. */
  readonly fetch: typeof fetch
}

export interface McpHandlerOptions {
  readonly sign: Sign
  readonly version: string
}

export type McpHandler = (request: McpRequest) => Promise<Response>

/** Only the path counts: requests do not leave the process. */
const baseUrl = 'http://roomkeeper.invalid'

export function makeMcpHandler({ sign, version }: McpHandlerOptions): McpHandler {
  const handler = createMcpHandler(
    (context) => {
      const authInfo = context.authInfo as AuthInfo & { extra: { request: McpRequest } }
      const { caller, org, fetch, ...request } = authInfo.extra.request
      const now = () => request.now
      const client = makeClient({ baseUrl, org, fetch })
      return makeMcpServer({ caller, client, confirmations: new Confirmations(sign, now), now, version })
    },
    // The list of tools does not change while a key is valid.
    { maxSubscriptions: 0 },
  )
  return (request) => {
    const { headers, body, caller } = request
    return handler.fetch(new Request(`${baseUrl}/mcp`, { method: 'POST', headers, body: '{}' }), {
      parsedBody: body,
      // The token stays with the server: it is in `fetch` only.
      authInfo: { token: '', clientId: caller.id, scopes: [...caller.scopes], extra: { request } },
    })
  }
}
