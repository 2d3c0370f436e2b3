// Explains why no route matches a request: its path is unknown, or its method is not allowed there. [contract 1.1]
import type { FastifyRequest } from 'fastify'
import type { Operation } from '../../contract/operation.ts'
import { Failure } from '../core/failure.ts'
import { isUnderBase, methodFinder } from './paths.ts'

export function notFoundExplainer(operations: readonly Operation[]): (request: FastifyRequest) => Failure {
  const methodsAt = methodFinder(operations)
  return ({ url, method }) => {
    const path = url.split('?')[0]
    const methods = isUnderBase(url) ? methodsAt(url) : []
    if (methods.length === 0) return new Failure('NOT_FOUND', `no such path: ${path}. See /docs for every operation.`)
    const allowed = methods.join(', ')
    return new Failure('METHOD_NOT_ALLOWED', `Method ${method} is not allowed for ${path}; allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
}

/** True if no route matches, or only the console's catch-all route, which does not serve paths of the API. */
export const isUnrouted = ({ is404, params, url }: FastifyRequest): boolean =>
  is404 || ((params as { '*'?: string })['*'] !== undefined && isUnderBase(url))
