// Sends e-mail over the SMTP server that the operator has set. The rules for addresses of users do not apply to that server.
import { Socket } from 'node:net'
import { isLoopbackHost } from '../core/loopback.ts'
import { type TimeLimits, timeLimits } from '../core/time-limits.ts'

export interface MailerOptions {
  /** Such as smtps://user:password@mail.example.org. */
  readonly smtpUrl: string
  /** The sender, such as Roomkeeper <rooms@example.org>. */
  readonly smtpFrom: string
}

export interface Mail {
  readonly to: readonly string[]
  /** One line. */
  readonly subject: string
  readonly text: string
  /** The content for programs that show HTML. */
  readonly html?: string
  /** Mails with the same thread are shown together. The first of them begins it. */
  readonly thread?: { readonly name: string; readonly isFirst: boolean }
  /** Equal in all attempts, so that servers can recognise a mail that comes twice. */
  readonly id?: string
}

/** The words contain nothing of the server's answer but its number. */
export type MailOutcome =
  | {
      readonly isDelivered: true
      readonly status: null
      /** Says that the server refused some of the addresses. */
      readonly note?: string
      /** Says that the server wants the mail again later for some of the addresses. */
      readonly laterError?: string
    }
  | {
      readonly isDelivered: false
      readonly status: null
      readonly error: string
      /** True if the server accepts mail, but none for any of the addresses. */
      readonly isRefusedForGood?: boolean
    }

export interface Mailer {
  /** The signal closes the connection. */
  send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome>
  close(): void
}

/** A connection is opened for each mail, so that no idle one is in use when the server restarts. */
export function openMailer({ smtpUrl, smtpFrom }: MailerOptions, limits: TimeLimits = timeLimits): Mailer {
  const options = {
    url: smtpUrl,
    connectionTimeout: limits.mailStepMs,
    greetingTimeout: limits.mailStepMs,
    socketTimeout: limits.mailSilenceMs,
    dnsTimeout: limits.mailStepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(requiresTls(smtpUrl) && { requireTLS: true }),
  }
  const domain = domainOf(smtpFrom)
  const idOf = (name: string) => `<${name.replace(/[^\w.-]/g, '-')}@${domain}>`
  const closing = new AbortController()
  return {
    async send({ to, subject, text, html, thread, id }, signal) {
      const threadId = thread && idOf(thread.name)
      const messageId = thread?.isFirst ? threadId : id && idOf(id)
      // Servers may examine a mail before they accept it, and send it on even if their answer is not awaited.
      const late = AbortSignal.timeout(limits.mailMs)
      using socket = new BoundedSocket([late, closing.signal, ...(signal ? [signal] : [])])
      // Loaded at its first use, because it takes memory, and most servers send no mail.
      const { createTransport } = await import('nodemailer')
      try {
        const sending = createTransport({ ...options, socket: socket.socket }).sendMail({
          from: smtpFrom,
          // As objects, so that no character of an address can begin a second one.
          to: to.map((address) => ({ name: '', address })),
          subject,
          text,
          ...(html !== undefined && { html }),
          ...(messageId && { messageId }),
          ...(threadId && messageId !== threadId && { inReplyTo: threadId, references: [threadId] }),
          // Other servers do not answer to it with "out of office".
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        const { rejected, rejectedErrors = [] } = await Promise.race([sending, socket.ended])
        const later = rejectedErrors.find(({ responseCode = 0 }) => responseCode >= 400 && responseCode < 500)
        const count = rejected.length
        return {
          isDelivered: true,
          status: null,
          ...(count > 0 && { note: `${count} of the addresses refused` }),
          ...(later && { laterError: mailErrorOf(later as SmtpError) }),
        }
      } catch (error) {
        const { rejectedErrors = [] } = error as SmtpError
        const isRefusedForGood =
          rejectedErrors.length > 0 && rejectedErrors.every(({ responseCode = 0 }) => responseCode >= 500)
        return { isDelivered: false, status: null, error: mailErrorOf(error as SmtpError), isRefusedForGood }
      }
    },
    close: () => closing.abort(),
  }
}

/** A socket that is closed when a signal aborts, such as the mail's timeout. */
class BoundedSocket implements Disposable {
  readonly socket = new Socket()
  /** Rejects when the socket is closed before its time. */
  readonly ended: Promise<never>
  readonly #settled = new AbortController()

  constructor(signals: readonly AbortSignal[]) {
    const signal = AbortSignal.any([...signals])
    const { promise, reject } = Promise.withResolvers<never>()
    this.ended = promise
    promise.catch(() => {})
    const end = () => {
      this.socket.destroy()
      reject(Object.assign(new Error('the time of the mail is over'), { code: 'ETIMEDOUT' }))
    }
    // A name may be looked up at the end, and the connection opened after it.
    this.socket.on('connect', () => signal.aborted && this.socket.destroy())
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true, signal: this.#settled.signal })
  }

  [Symbol.dispose](): void {
    this.#settled.abort()
  }
}

/** Without TLS, an eavesdropper could read the password, and the links that invite users. The operator can decide otherwise in the URL. */
export function requiresTls(smtpUrl: string): boolean {
  const { password, hostname, searchParams } = new URL(smtpUrl)
  return password !== '' && !isLoopbackHost(hostname) && !searchParams.has('requireTLS')
}

const domainOf = (from: string): string => /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'

interface SmtpError extends Error {
  readonly code?: string
  readonly responseCode?: number
  /** Why each address was refused, if all were. */
  readonly rejectedErrors?: readonly { readonly responseCode?: number }[]
}

const wordsOfCodes: Readonly<Record<string, string>> = {
  EAUTH: 'sign-in refused',
  EDNS: 'unknown host',
  EENVELOPE: 'address refused',
  EMESSAGE: 'message refused',
  ENOAUTH: 'sign-in required',
  ETIMEDOUT: 'timeout',
  ETLS: 'tls',
}

function mailErrorOf({ code = '', responseCode }: SmtpError): string {
  const words = wordsOfCodes[code] ?? 'unreachable'
  return responseCode === undefined ? words : `${words} (${responseCode})`
}
