// Receives the messages of the demo's channel, and prints each of them.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../client/client.ts'
import { type Terminal, withoutControls } from '../terminal/terminal.ts'

const channelName = 'Facilities team'
const maxBodyBytes = 1024 * 1024

/** The address that the server must be allowed to call. */
export const receiverHost = '127.0.0.1'

export class DemoReceiver {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(terminal: Terminal): Promise<DemoReceiver> {
    const server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < maxBodyBytes) text += piece
      })
      request.on('end', () => {
        response.writeHead(204).end()
        terminal.write(`Message to ${channelName}: ${withoutControls(describe(text))}`)
      })
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, receiverHost, resolve)
    })
    return new DemoReceiver(server)
  }

  /** Makes the channel, or tells it the port of this start. */
  async connect(client: Client): Promise<void> {
    const url = `http://${receiverHost}:${(this.#server.address() as AddressInfo).port}/`
    const known = (await client.channelsList()).body.channels.find(({ name }) => name === channelName)
    if (known) {
      await client.channelsUpdate({ id: known.id, body: { url } })
      return
    }
    const body = { name: channelName, kind: 'webhook' as const, url, minSeverity: 'WARNING' as const }
    const { id } = (await client.channelsCreate({ body })).body
    await client.channelsTest({ id })
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function describe(text: string): string {
  try {
    const { type, data } = JSON.parse(text)
    return data?.incident ? `${type}, ${data.incident.title}` : String(type)
  } catch {
    return 'not JSON'
  }
}
