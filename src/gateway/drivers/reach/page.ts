// Requests one page over an open connection: reads a bounded part of it, follows no redirects, sends no password.
import { type ClientRequest, type IncomingMessage, request as requestPage } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { DriverFailure } from '../../driver.ts'
import type { ReachFault } from './certificate-faults.ts'

export interface PageRequest {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly expectedText: string | undefined
  /** Undefined: any status below 500, because 401, 403 and redirects come from a device that is alive. */
  readonly expectedStatus: number | undefined
}

export interface CheckedPage {
  readonly status: number
  /** From the request to the status line. */
  readonly answeredMs: number
  readonly hasText: boolean
}

const maxHeaderBytes = 16 * 1024
const maxBodyBytes = 64 * 1024
/** Answers such as 100 Continue, before the real one. */
const maxInterimAnswers = 8

/** Rejects with a DriverFailure if there is no answer in HTTP in time. The caller closes the socket. */
export async function getPage(
  socket: Socket,
  page: PageRequest,
  isTls: boolean,
  limitMs: number,
): Promise<CheckedPage> {
  const startedAt = performance.now()
  const request = requestPage({
    // Without `agent`: even `agent: false` makes an agent, which would connect by itself.
    createConnection: () => socket,
    path: safePath(page.path),
    headers: { host: hostHeader(page, isTls), accept: '*/*', 'user-agent': 'Roomkeeper', connection: 'close' },
    maxHeaderSize: maxHeaderBytes,
  })
  const late = new DriverFailure(
    'UNREACHABLE',
    'The device accepted the connection, but did not finish its answer in time.',
  )
  let failure: DriverFailure | undefined
  const giveUp = (reason: DriverFailure) => {
    failure = reason
    request.destroy()
  }
  const timer = setTimeout(giveUp, Math.max(0, limitMs), late)
  let interimCount = 0
  request.on('information', () => {
    if (++interimCount > maxInterimAnswers)
      giveUp(new DriverFailure('UNSUPPORTED', 'The device sends interim answers only.'))
  })
  try {
    const response = await responseTo(request)
    const answeredMs = performance.now() - startedAt
    const hasText = page.expectedText === undefined || (await contains(response, page.expectedText))
    return { status: response.statusCode ?? 0, answeredMs, hasText }
  } catch (error) {
    throw failure ?? failureInWords(error as NodeJS.ErrnoException)
  } finally {
    clearTimeout(timer)
    request.destroy()
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).on('error', reject)
    // An answer that switches to another protocol has a status, too.
    request.once('upgrade', (response: IncomingMessage) => resolve(response))
    request.end()
  })
}

/** Reads until the text is found, or until the limit. */
async function contains(response: IncomingMessage, text: string): Promise<boolean> {
  const wanted = Buffer.from(text)
  let before = Buffer.alloc(0)
  let readBytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const part = Buffer.concat([before, chunk])
    if (part.includes(wanted)) return true
    readBytes += chunk.length
    if (readBytes >= maxBodyBytes) return false
    // The text can continue in the next part.
    before = part.subarray(Math.max(0, part.length - wanted.length + 1))
  }
  return false
}

export function pageFaults(
  { status, hasText }: CheckedPage,
  { expectedStatus, expectedText }: PageRequest,
): ReachFault[] {
  const isExpected = expectedStatus === undefined ? status < 500 : status === expectedStatus
  const wanted = expectedStatus === undefined ? 'less than 500' : expectedStatus
  const faults: ReachFault[] = []
  if (!isExpected) {
    faults.push({
      code: 'http.status',
      level: 'WARNING',
      text: `The page answers with status ${status} instead of ${wanted}.`,
    })
  }
  if (!hasText) {
    faults.push({
      code: 'http.text',
      level: 'WARNING',
      text: `The page does not contain "${expectedText?.slice(0, 100)}".`,
    })
  }
  return faults
}

/** Node refuses a path with spaces or control characters. */
const safePath = (path: string) =>
  encodeURI((path.startsWith('/') ? path : `/${path}`).toWellFormed()).replaceAll('%25', '%')

function hostHeader({ host, port }: PageRequest, isTls: boolean): string {
  const name = isIPv6(host) ? `[${host}]` : host
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`
}

function failureInWords({ code = '', message }: NodeJS.ErrnoException): DriverFailure {
  if (code === 'HPE_HEADER_OVERFLOW') return new DriverFailure('UNSUPPORTED', 'The headers of the answer are too long.')
  if (code.startsWith('HPE_'))
    return new DriverFailure('UNSUPPORTED', 'The device does not answer with HTTP on this port.')
  if (code === 'ECONNRESET')
    return new DriverFailure('UNREACHABLE', 'The device closed the connection without an answer.')
  return new DriverFailure('UNREACHABLE', `The device did not answer the request for the page (${code || message}).`)
}
