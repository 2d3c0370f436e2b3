// A real SMTP server on loopback that records the mails that it gets.
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The headers by their names in lower case, with folded lines joined. */
  readonly headers: Readonly<Record<string, string>>
  /** As it was sent; of a mail with HTML the text beside it, decoded. */
  readonly text: string
  readonly html?: string
}

const refusal = (words: string, responseCode: number) => Object.assign(new Error(words), { responseCode })

export class MailServer {
  readonly mails: ReceivedMail[] = []
  /** The names and passwords that clients have sent. */
  readonly signIns: { readonly username: unknown; readonly password: unknown }[] = []
  /** Addresses that the server refuses. */
  readonly refused = new Set<string>()
  /** Addresses that the server refuses for now. */
  readonly putOff = new Set<string>()
  /** Each mail is accepted this long after its last byte. */
  delayMs = 0
  /** While true, every mail is refused for now. */
  isBusy = false
  readonly #server: SMTPServer

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _, callback) => {
        this.signIns.push({ username, password })
        callback(null, { user: username })
      },
      onRcptTo: ({ address }, _, callback) => {
        if (this.refused.has(address)) return callback(refusal('No such mailbox', 550))
        callback(this.putOff.has(address) ? refusal('Try later', 450) : null)
      },
      onData: (stream, { envelope }, callback) => {
        void text(stream).then(async (raw) => {
          await sleep(this.delayMs)
          if (this.isBusy) return callback(refusal('Try later, secret words', 451))
          const { mailFrom, rcptTo } = envelope
          this.mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            ...parse(raw),
          })
          callback(null)
        })
      },
    })
    this.#server.on('error', () => {})
  }

  static async start(): Promise<MailServer> {
    const server = new MailServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#tcp, 'listening')
    return server
  }

  get #tcp(): Server {
    return this.#server.server as Server
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#tcp.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

interface MailPart {
  /** The headers by their names in lower case, with folded lines joined. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

function parse(raw: string): MailPart & Pick<ReceivedMail, 'html'> {
  const { headers, text } = partOf(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1]
  if (boundary === undefined) return { headers, text }
  const parts = text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => partOf(part.slice(2)))
  const ofType = (type: string) => parts.find((part) => part.headers['content-type']?.startsWith(type))
  const html = ofType('text/html')
  return { headers, text: decoded(ofType('text/plain')), ...(html && { html: decoded(html) }) }
}

function partOf(raw: string): MailPart {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { headers, text: rest.join('\r\n\r\n') }
}

/** Lines of text in the encoding of e-mail have a soft end, and bytes as =C3. */
function decoded(part: MailPart | undefined): string {
  const { headers, text } = part ?? { headers: {}, text: '' }
  if (headers['content-transfer-encoding'] !== 'quoted-printable') return text
  const bytes = text
    .replaceAll('=\r\n', '')
    .replaceAll(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
