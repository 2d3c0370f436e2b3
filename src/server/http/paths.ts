// Paths: the two bases as one, and which methods a path knows. [contract 1.1]
import type { IncomingMessage } from 'node:http'
import type { Operation } from '../../contract/operation.ts'

const cameByLegacyBase = new WeakSet<IncomingMessage>()

export const isLegacy = (request: IncomingMessage): boolean => cameByLegacyBase.has(request)

/** `//v1`, `/api/v1`, `/api//v1`: what clients make of a base address with or without a slash at its end. */
const base = /^\/{1,2}(api\/{1,2})?(?=v1(?:[/?]|$))/
const absolute = /^https?:\/\/[^/?#]*/i

/** One set of routes serves both bases; registering every route twice would cost tens of megabytes. */
export function normalisePath(request: IncomingMessage): string {
  let url = request.url ?? '/'
  if (url.startsWith('/v1/') && !url.includes('%')) return url
  if (!url.startsWith('/')) url = url.replace(absolute, '') || '/'
  const found = base.exec(url)
  if (found) {
    if (found[1]) cameByLegacyBase.add(request)
    url = `/${url.slice(found[0].length)}`
  }
  return url.includes('%') ? decodable(url) : url
}

/** A broken escape is taken literally, so that it meets the same checks in the same order as any other text. */
function decodable(url: string): string {
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

/** The organisation that a path names, if it names one. */
export function orgInPath(url: string): string | undefined {
  const segment = /^\/v1\/orgs\/([^/?]+)/.exec(url)?.[1]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}

/** RFC 9745 and RFC 8594: the legacy base is deprecated, its end was announced, and where to go. */
export const legacyHeaders = (url: string): Record<string, string> => ({
  Deprecation: `@${Date.UTC(2025, 0, 1) / 1000}`,
  Sunset: 'Mon, 30 Jun 2025 23:59:59 GMT',
  Link: `<${url.split('?')[0]}>; rel="successor-version"`,
})

export const routesOf = (operation: Operation): string[] =>
  [operation.path, ...(operation.otherPaths ?? [])].map(
    (path) => `/v1/orgs/:orgid${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
  )

/** For a 405: which methods would have worked here. Fixed segments win over parameters, as in the router. */
export function methodFinder(operations: readonly Operation[]): (url: string) => string[] {
  const patterns = operations.flatMap((o) =>
    routesOf(o).map((route) => ({
      method: o.method,
      parameters: route.split(':').length,
      pattern: new RegExp(`^${route.replaceAll(/:\w+/g, '[^/]+')}$`),
    })),
  )
  return (url) => {
    const path = url.split('?')[0] ?? ''
    const fitting = patterns.filter((p) => p.pattern.test(path))
    const fewest = Math.min(...fitting.map((p) => p.parameters))
    const methods = new Set(fitting.filter((p) => p.parameters === fewest).map((p) => p.method as string))
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort()
  }
}
