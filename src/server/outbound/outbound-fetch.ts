// Sends the server's own HTTP requests to other services, and refuses addresses that its users must not reach through it.
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Agent } from 'undici'
import { NameLookups, type ResolveName } from '../../network/name-lookups.ts'
import { type TimeLimits, timeLimits } from '../core/time-limits.ts'
import { AllowList, type OutboundRules, type OutboundTarget } from './allow-list.ts'
import { literalAddress, OutboundError, outboundErrorOf } from './outbound-error.ts'

const defaultMaxAnswerBytes = 1024 * 1024

export interface OutboundRequest {
  readonly method?: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | URLSearchParams
  readonly signal?: AbortSignal
  /** Counted after decompression. */
  readonly maxAnswerBytes?: number
  /** The answer is complete with its headers; its body is neither read nor waited for. */
  readonly ignoresBody?: boolean
}

/** Resolves to any answer that is no redirect, with its whole body unless the request ignores it; rejects with an OutboundError only. */
export type OutboundFetch = (url: string | URL, request?: OutboundRequest) => Promise<Response>

interface OutboundClientOptions {
  readonly limits?: TimeLimits
  readonly resolveName?: ResolveName
}

export interface OutboundClient {
  readonly fetch: OutboundFetch
  /** Says what is already known to be wrong with an address, without a look-up: names are checked when a connection is opened. */
  readonly findProblem: (url: URL) => OutboundError | undefined
  close(): Promise<void>
}

/**
 * Every connection is checked where it is opened. A name is resolved once, and only the addresses that passed the check are handed
 * to the socket, so that a second look-up cannot lead elsewhere. An agent of our own also ignores the variables HTTP_PROXY and
 * HTTPS_PROXY: a proxy would look up names by itself.
 */
export function openOutbound(
  rules: OutboundRules,
  { limits = timeLimits, resolveName = lookup }: OutboundClientOptions = {},
): OutboundClient {
  const allowList = new AllowList(rules)
  const lookups = new NameLookups(resolveName)
  let agent: Promise<Agent> | undefined
  const open = () => openAgent((origin) => checkedLookup(allowList, origin, lookups))
  return {
    fetch: async (url, request = {}) => {
      agent ??= open()
      return send(await agent, { allowList, limits }, new URL(url), request)
    },
    findProblem: (url) => findProblem(allowList, url),
    close: async () => (await agent)?.close(),
  }
}

/** Loaded at its first use, because most servers send no request, and undici takes memory. */
const loadUndici = () => import('undici')

async function openAgent(lookupFor: (origin: URL) => LookupFunction): Promise<Agent> {
  const { Agent, Pool } = await loadUndici()
  return new Agent({
    allowH2: false,
    // No connection is used twice, because an idle one may end at the moment when a request that must not be repeated is sent.
    pipelining: 0,
    factory: (origin, options) => new Pool(origin, { ...options, connect: { lookup: lookupFor(new URL(origin)) } }),
  })
}

async function send(
  agent: Agent,
  { allowList, limits }: { readonly allowList: AllowList; readonly limits: TimeLimits },
  url: URL,
  request: OutboundRequest,
): Promise<Response> {
  const { maxAnswerBytes = defaultMaxAnswerBytes, signal, ignoresBody, ...rest } = request
  // Node calls no look-up function for an address, so an address in the URL is checked here.
  const problem = findAddressProblem(allowList, url)
  if (problem) throw problem
  // For the whole request, from the look-up of the name to the last byte of the answer.
  const timeout = AbortSignal.timeout(limits.outboundRequestMs)
  try {
    const { fetch } = await loadUndici()
    const answer = await fetch(url, {
      ...rest,
      headers: Object.fromEntries(new Headers(rest.headers)),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      dispatcher: agent,
    })
    const { status } = answer
    if (status >= 300 && status < 400 && status !== 304) {
      await answer.body?.cancel()
      throw new OutboundError('redirect', url.host, status)
    }
    if (ignoresBody) {
      await answer.body?.cancel()
      return new Response(null, { status, headers: [...answer.headers] })
    }
    const body = await readBody(answer.body, maxAnswerBytes, url)
    const hasNoBody = status === 204 || status === 205 || status === 304
    return new Response(hasNoBody ? null : body, { status, headers: [...answer.headers] })
  } catch (error) {
    throw outboundErrorOf(error, url.host)
  }
}

async function readBody(
  body: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
  url: URL,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the stream, which closes the connection.
  for await (const part of body ?? []) {
    size += part.byteLength
    if (size > maxBytes) throw new OutboundError('too large', url.host)
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}

/** A name is not looked up: it has no problem here, unless it can never be called without TLS. */
function findProblem(allowList: AllowList, url: URL): OutboundError | undefined {
  const problem = findAddressProblem(allowList, url)
  if (problem || url.protocol === 'https:' || literalAddress(url.hostname) !== undefined) return problem
  return allowList.mayBeNamed(targetOf(url)) ? undefined : new OutboundError('https required', url.host)
}

function findAddressProblem(allowList: AllowList, url: URL): OutboundError | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return new OutboundError('https required', url.host)
  const address = literalAddress(url.hostname)
  return address === undefined ? undefined : problemOf(allowList, url, address)
}

/** Plain HTTP is readable by everybody on the way, so the operator has to name such a target. */
function problemOf(allowList: AllowList, url: URL, address: string): OutboundError | undefined {
  const target = targetOf(url)
  if (!allowList.allows(target, address)) return new OutboundError('address not allowed', url.host)
  if (url.protocol === 'https:' || allowList.isNamed(target, address)) return undefined
  return new OutboundError('https required', url.host)
}

const targetOf = ({ hostname, port, protocol }: URL): OutboundTarget => ({
  hostname,
  port: Number(port || (protocol === 'https:' ? 443 : 80)),
})

/** Resolves a name for a connection to `origin`, and leaves out the addresses that are refused. */
function checkedLookup(allowList: AllowList, origin: URL, lookups: NameLookups): LookupFunction {
  return (hostname, options, callback) => {
    lookups.resolve(hostname, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const checked = addresses.map((found) => ({ found, problem: problemOf(allowList, origin, found.address) }))
      const [first, ...others] = checked.filter(({ problem }) => !problem).map(({ found }) => found)
      if (!first) return callback(checked[0]?.problem ?? new OutboundError('unknown host', origin.host), '', 0)
      if (options.all) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    })
  }
}
