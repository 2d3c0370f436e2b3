// The addresses that the operator allows the server to call with --outbound-allow, beside those of the public internet.
import { isIP } from 'node:net'
import { addressMatcher } from '../../network/address-list.ts'
import { isGloballyReachable } from '../../network/global-addresses.ts'
import { isLoopback } from '../core/loopback.ts'

/** One item of the option: a host name, an address or a CIDR range. Without a port it allows all ports. */
type AllowItem = ({ readonly name: string } | { readonly range: string }) & { readonly port?: number }

/** Reads an item such as `idp.example.lan`, `10.0.0.0/8`, `10.1.2.3:8443` or `[fd00::1]:8443`. Undefined if it is none. */
export function parseAllowItem(text: string): AllowItem | undefined {
  const [host, port] = splitPort(text)
  if (port !== undefined && (port < 1 || port > 65535)) return undefined
  const withPort = port === undefined ? {} : { port }
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(host) ?? []
  const family = isIP(address)
  if (family !== 0) {
    const isRange = Number(bits ?? 0) <= (family === 4 ? 32 : 128) && !address.includes('%')
    return isRange ? { range: host, ...withPort } : undefined
  }
  // The URL parser reads some other texts as IPv4 addresses too, such as 0x7f.1, and writes names in lower case.
  const name = /^[\w.-]+$/.test(host) ? URL.parse(`http://${host}/`)?.hostname : undefined
  return name === undefined || isIP(name) !== 0 ? undefined : { name: withoutRootDot(name), ...withPort }
}

/** An IPv6 address needs brackets in front of a port, because its groups are separated by colons too. */
function splitPort(text: string): [host: string, port: number | undefined] {
  const [, bracketed, bracketedPort] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? []
  if (bracketed !== undefined) return [bracketed, bracketedPort === undefined ? undefined : Number(bracketedPort)]
  const [, host, port] = /^([^:]+):(\d{1,5})$/.exec(text) ?? []
  return host === undefined ? [text, undefined] : [host, Number(port)]
}

/** `idp.example.org.` and `idp.example.org` are one name. */
const withoutRootDot = (name: string) => name.replace(/\.$/, '')

export interface OutboundRules {
  /** The values of --outbound-allow, which options.ts has checked. */
  readonly allow: readonly string[]
  /** Nothing on this machine is reached through the server that its users could not reach themselves. */
  readonly allowLoopback: boolean
}

export interface OutboundTarget {
  /** As in a URL: in lower case, and IPv6 addresses in brackets. */
  readonly hostname: string
  readonly port: number
}

interface AllowRule {
  readonly port: number | undefined
  readonly isRange: boolean
  matches(name: string, address: string): boolean
}

export class AllowList {
  readonly #rules: readonly AllowRule[]
  readonly #allowLoopback: boolean

  constructor({ allow, allowLoopback }: OutboundRules) {
    this.#rules = allow.map(ruleOf)
    this.#allowLoopback = allowLoopback
  }

  /** Tells whether the operator has named this target, or the address that its name resolves to. HTTP without TLS needs that. */
  isNamed({ hostname, port }: OutboundTarget, address: string): boolean {
    if (this.#allowLoopback && isLoopback(address)) return true
    const name = withoutRootDot(hostname)
    return this.#rules.some((rule) => (rule.port ?? port) === port && rule.matches(name, address))
  }

  /** Tells whether the operator may have named this host name: it can resolve to an address in a range. */
  mayBeNamed({ hostname, port }: OutboundTarget): boolean {
    const name = withoutRootDot(hostname)
    const isPossible = (rule: AllowRule) => (rule.port ?? port) === port && (rule.isRange || rule.matches(name, ''))
    return this.#allowLoopback || this.#rules.some(isPossible)
  }

  /** Tells whether a connection to this address may be opened for the target. */
  allows(target: OutboundTarget, address: string): boolean {
    return isGloballyReachable(address) || this.isNamed(target, address)
  }
}

function ruleOf(text: string): AllowRule {
  const item = parseAllowItem(text)
  if (!item) throw new TypeError(`${text} is no host name, address or CIDR range`)
  if ('name' in item) return { port: item.port, isRange: false, matches: (name) => name === item.name }
  const matchesRange = addressMatcher([item.range])
  return { port: item.port, isRange: true, matches: (_, address) => matchesRange(address) }
}
