// Versions of resources: the ETag that shows one, and the If-Match that insists on one. [contract 7.8] [contract 7.11]

import { Failure } from '../core/failure.ts'
import type { RequestContext } from './request-context.ts'

/** Refuses a write that was meant for another version of the resource. [contract 7.11] */
export function checkIfMatch(ctx: RequestContext, version: number): void {
  if (ctx.ifMatch === undefined || ctx.ifMatch.trim() === '*') return
  const wanted = ctx.ifMatch.split(',').map((tag) => tag.trim())
  if (wanted.includes(etagOf(version))) return
  const current = etagOf(version)
  const sentence = wanted.some((tag) => strong.test(tag))
    ? `The resource has changed: its version is ${current}, If-Match asked for ${ctx.ifMatch}. Look at it again; if you still want the change, send it with If-Match: ${current}.`
    : `If-Match takes versions in quotes, such as ${current}, or *; ${ctx.ifMatch} matches none.`
  throw new Failure('ABORTED', sentence, { status: 412, headers: { ETag: current } })
}

const strong = /^"[^"]*"$/

export const etagOf = (version: number): string => `"${version}"`
