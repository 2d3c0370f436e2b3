// Versions of resources: the ETag that shows one, and the If-Match that insists on one. [contract 7.8] [contract 7.11]
import type { By } from './by.ts'
import { Failure } from './failure.ts'

/** Refuses a write that was meant for another version of the resource. [contract 7.11] */
export function checkIfMatch(by: By, version: number): void {
  if (by.ifMatch === undefined || by.ifMatch.trim() === '*') return
  const wanted = by.ifMatch.split(',').map((tag) => tag.trim())
  if (wanted.includes(etagOf(version))) return
  throw new Failure(
    'ABORTED',
    `The resource has changed: its version is ${etagOf(version)}, If-Match asked for ${by.ifMatch}. Read it again, then decide.`,
    { status: 412 },
  )
}

export const etagOf = (version: number): string => `"${version}"`
