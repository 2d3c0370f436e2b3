// Converts versions of resources to ETags, and checks If-Match against them. [contract 7.8] [contract 7.11]

import { Failure } from '../core/failure.ts'
import { ReadyAnswer, type VersionedAnswer } from './answers.ts'
import type { RequestContext } from './request-context.ts'

/** Refuses a write that was meant for another version of the resource. [contract 7.11] */
export function checkIfMatch(ctx: RequestContext, version: number): void {
  if (ctx.ifMatch === undefined || ctx.ifMatch.trim() === '*') return
  const requested = ctx.ifMatch.split(',').map((tag) => tag.trim())
  if (requested.some((tag) => tag.replace(hashInEtag, '"') === etagOf(version))) return
  const current = etagOf(version)
  const sentence = requested.some((tag) => strongEtag.test(tag))
    ? `The resource has changed: its version is ${current}, but If-Match has ${ctx.ifMatch}. Read it again; if you still want the change, send it with If-Match: ${current}.`
    : `If-Match takes versions in quotes, such as ${current}, or *; ${ctx.ifMatch} matches none.`
  throw new Failure('ABORTED', sentence, { status: 412, headers: { ETag: current } })
}

const strongEtag = /^"[^"]*"$/

/** If-Match looks at the version only, so that a report of a device never makes a write fail. [contract 7.9] */
const hashInEtag = /(?<=^"\d+)-[\w-]+"$/

/** The hash covers what changes without a new version. */
export const etagOf = (version: number, unversionedHash?: string): string =>
  unversionedHash === undefined ? `"${version}"` : `"${version}-${unversionedHash}"`

export const readyAnswerOf = ({ version, body, unversionedHash }: VersionedAnswer<unknown>): ReadyAnswer =>
  new ReadyAnswer(etagOf(version, unversionedHash), JSON.stringify(body))
