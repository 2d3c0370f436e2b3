// Maps both bases of the API to one set of paths, and finds the methods that a path allows. [contract 1.1]
import type { IncomingMessage } from 'node:http'
import type { Operation } from '../../contract/operation.ts'

const legacyRequests = new WeakSet<IncomingMessage>()

export const isLegacy = (request: IncomingMessage): boolean => legacyRequests.has(request)

/** Clients send `//v1`, `/api/v1` or `/api//v1`, depending on whether their configured base address ends with a slash. */
const base = /^\/{1,2}(api\/{1,2})?(?=v1(?:[/?]|$))/
const absolute = /^https?:\/\/[^/?#]*/i

/** One set of routes serves both bases; registering every route twice would cost tens of megabytes. */
export function normalisePath(request: IncomingMessage): string {
  let url = request.url ?? '/'
  if (url.startsWith('/v1/') && !url.includes('%')) return url
  if (!url.startsWith('/')) url = url.replace(absolute, '') || '/'
  const match = base.exec(url)
  if (match) {
    if (match[1]) legacyRequests.add(request)
    url = `/${url.slice(match[0].length)}`
  }
  return url.includes('%') ? escapeMalformed(url) : url
}

/** A malformed percent escape is taken literally, so that it meets the same checks in the same order as any other text. */
function escapeMalformed(url: string): string {
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}

export const isUnderBase = (url: string): boolean => /^\/v1([/?]|$)/.test(url)

/** Returns the id of the organisation in a path, if there is one. */
export function orgInPath(url: string): string | undefined {
  const segment = /^\/v1\/orgs\/([^/?]+)/.exec(url)?.[1]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}

/** Tells clients of the legacy base that it is deprecated, when it ends, and what replaces it (RFC 9745, RFC 8594). */
export const legacyHeaders = (url: string, prefix: string): Record<string, string> => ({
  Deprecation: `@${Date.UTC(2025, 0, 1) / 1000}`,
  Sunset: 'Mon, 30 Jun 2025 23:59:59 GMT',
  Link: `<${prefix}${url.split('?')[0]}>; rel="successor-version"`,
})

export const routesOf = (operation: Operation): string[] =>
  [operation.path, ...(operation.otherPaths ?? [])].map(
    (path) => `/v1/orgs/:orgid${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  )

export interface RoutePattern {
  readonly method: string
  readonly parameters: number
  readonly pattern: RegExp
}

/** `route` is written as Fastify takes it: `:name` is one segment, `*` is the rest. */
export const routePattern = (method: string, route: string): RoutePattern => ({
  method,
  parameters: route.split(':').length,
  pattern: new RegExp(`^${route.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(/:\w+/g, '[^/]+')}$`),
})

const patternsOf = (operations: readonly Operation[]): RoutePattern[] =>
  operations.flatMap((o) => routesOf(o).map((route) => routePattern(o.method, route)))

/** Finds the methods that a path of the API allows, for a 405. */
export function methodFinder(operations: readonly Operation[]): (path: string) => string[] {
  const patterns = patternsOf(operations)
  return (path) => methodsOf(patterns, path)
}

/** Fixed segments take precedence over parameters: `/endpoints/sensor` is not an endpoint. [contract 4.routes] */
export function methodsOf(patterns: readonly RoutePattern[], path: string): string[] {
  const matching = patterns.filter((p) => p.pattern.test(path))
  const fewest = Math.min(...matching.map((p) => p.parameters))
  const methods = new Set(matching.filter((p) => p.parameters === fewest).map((p) => p.method))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods].sort()
}

/**
 * Lists the methods that a fixed path does not have, but that a path with a parameter in its place has. The router looks for each method
 * separately, and would take the fixed segment for the parameter.
 */
export function shadowedMethods(operations: readonly Operation[]): { readonly url: string; readonly method: string }[] {
  const patterns = patternsOf(operations)
  const urls = new Set(operations.flatMap(routesOf).filter((url) => !url.slice('/v1/orgs/:orgid'.length).includes(':')))
  return [...urls].flatMap((url) => {
    const allowed = methodsOf(patterns, url)
    const matching = new Set(patterns.filter((p) => p.pattern.test(url)).map((p) => p.method))
    return [...matching].filter((method) => !allowed.includes(method)).map((method) => ({ url, method }))
  })
}
