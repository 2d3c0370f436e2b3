// `roomkeeper mcp`: the tools of the Model Context Protocol over standard input and output, for a program that starts this one.
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { Confirmations } from '../../mcp/confirmation.ts'
import { makeMcpServer } from '../../mcp/mcp-server.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The longest message that is read. */
const maxBufferSize = 256 * 1024

/** Runs until its input ends or it is asked to stop. Standard output has messages of the protocol only. */
export async function mcpCommand(terminal: Terminal, options: ConnectionOptions): Promise<void> {
  const { client } = connectToServer(terminal, options)
  // A wrong address or key is an error now, and not at the first tool.
  const { actor, scopes, org } = (await client.meGet()).body
  const key = randomBytes(32)
  const confirmations = new Confirmations((text) => createHmac('sha256', key).update(text).digest(), Date.now)
  const caller = { id: `${org.id} ${actor.type} ${actor.id}`, scopes }
  const input = Readable.from(terminal.readInput())
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      terminal.writeRaw(chunk).then(() => done(), done)
    },
  })
  const server = serveStdio(
    () => makeMcpServer({ client, caller, confirmations, now: Date.now, version: terminal.version }),
    {
      transport: new StdioServerTransport(input, output, { maxBufferSize }),
      maxSubscriptions: 0,
      onerror: ({ message }) => terminal.writeError(message),
    },
  )
  terminal.writeError(`Serving ${org.name} as ${actor.name} (${scopes.join(', ')}).`)
  await Promise.race([once(input, 'close'), terminal.untilStopped()])
  await server.close()
}
