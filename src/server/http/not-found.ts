// Explains why no route matches a request: its path is unknown, or its method is not allowed there. [contract 2.2.method]
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { Failure } from '../core/failure.ts'
import { isUnderBase, methodFinder, methodsOf, type RoutePattern, routePattern } from './paths.ts'

/** Must be called before the routes outside the API are registered, because it collects them. */
export function notFoundExplainer(
  app: FastifyInstance,
  operations: readonly Operation[],
): (request: FastifyRequest) => Failure {
  const operationMethods = methodFinder(operations)
  const otherRoutes: RoutePattern[] = []
  app.addHook('onRoute', ({ url, method }) => {
    if (isUnderBase(url) || inexactRoutes.includes(url)) return
    otherRoutes.push(...[method].flat().map((name) => routePattern(name, url)))
  })
  return ({ url, method }) => {
    const path = url.split('?')[0] ?? ''
    const methods = isUnderBase(url) ? operationMethods(path) : methodsOf(otherRoutes, path)
    if (methods.length === 0) return new Failure('NOT_FOUND', `no such path: ${path}. See /docs for every operation.`)
    const allowed = methods.join(', ')
    return new Failure('METHOD_NOT_ALLOWED', `Method ${method} is not allowed for ${path}; allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
}

/** These routes match paths that do not exist, and answer 404 for them. [contract 9.files] */
const inexactRoutes = ['/*', '/assets/*']

/** True if no route matches, or only the console's catch-all route, which does not serve paths of the API. */
export const isUnrouted = ({ is404, params, url }: FastifyRequest): boolean =>
  is404 || ((params as { '*'?: string })['*'] !== undefined && isUnderBase(url))
