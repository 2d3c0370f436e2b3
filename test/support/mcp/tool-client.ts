// The official client of the Model Context Protocol, and the older SDK, with one key.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly properties?: object }
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean }
}

export interface ToolClient {
  tools(): Promise<readonly ListedTool[]>
  /** The text of the answer, and whether it is an error. */
  call(name: string, args?: object): Promise<{ readonly isError: boolean; readonly text: string }>
  close(): Promise<void>
}

interface AnyClient {
  listTools(): Promise<{ tools: unknown }>
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<object>
  close(): Promise<void>
}

export const wrapClient = (client: AnyClient): ToolClient => ({
  tools: async () => (await client.listTools()).tools as readonly ListedTool[],
  async call(name, args = {}) {
    const { content, isError = false } = (await client.callTool({
      name,
      arguments: args as Record<string, unknown>,
    })) as {
      content: { text: string }[]
      isError?: boolean
    }
    return { isError, text: content.map(({ text }) => text).join('\n') }
  },
  close: () => client.close(),
})

const clientInfo = { name: 'roomkeeper-test', version: '1' }
const initOf = (key: string) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

export async function connectOfficial(url: string, key: string): Promise<ToolClient> {
  const client = new Client(clientInfo)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), initOf(key)))
  return wrapClient(client)
}

export async function connectOlder(url: string, key: string): Promise<ToolClient> {
  const client = new OlderClient(clientInfo)
  await client.connect(new OlderTransport(new URL(`${url}/mcp`), initOf(key)))
  return wrapClient(client)
}
