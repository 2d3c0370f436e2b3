// What went wrong, in words: rules throw these, the edge turns them into an answer.
import type { ErrorCode, Violation } from '../../contract/error.ts'

/** Beginnings of messages that real clients look for. [contract 2.2] */
const prefixes: Partial<Record<ErrorCode, string>> = {
  INVALID_ARGUMENT: 'Invalid request: ',
  FAILED_PRECONDITION: 'Operation preconditions not met: ',
  NOT_FOUND: 'Requested resource not found: ',
}

export interface FailureExtras {
  violations?: readonly Violation[]
  headers?: Readonly<Record<string, string>>
  /** Two statuses share ABORTED: 409 unless said otherwise. */
  status?: number
  /** The sentence is the whole message: clients know it word for word. */
  exact?: true
}

export class Failure extends Error {
  readonly code: ErrorCode
  readonly extras: FailureExtras

  constructor(code: ErrorCode, sentence: string, extras: FailureExtras = {}) {
    super(extras.exact ? sentence : (prefixes[code] ?? '') + sentence)
    this.code = code
    this.extras = extras
  }
}

export const invalid = (violations: readonly Violation[]): Failure =>
  new Failure('INVALID_ARGUMENT', violations.map((v) => `${v.field} ${v.error}`).join('; '), { violations })

/** An organisation that the token may not see: nothing more is said. [contract 2.4] */
export const organisationNotFound = (): Failure =>
  new Failure('NOT_FOUND', 'Requested resource not found', { exact: true })

/** For whoever comes while the server stops. */
export const shuttingDown = (): Failure =>
  new Failure('UNAVAILABLE', 'The server is shutting down. Send the request again in a moment.', {
    headers: { 'Retry-After': '5', Connection: 'close' },
  })

/** Insists that something exists. */
export function mustFind<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw new Failure('NOT_FOUND', `there is no ${what}.`)
  return thing
}

/** What a body refers to: 0 and null name nothing; an id that does not exist is a failed precondition. [contract 2.2] */
export async function findReferenced<T>(
  noun: string,
  id: number | null | undefined,
  find: (id: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!id) return undefined
  const thing = await find(id)
  if (thing !== undefined) return thing
  throw new Failure('FAILED_PRECONDITION', `there is no ${noun} ${id}. Create it first, or send null for none.`)
}

/** What the ids of a list body name, at least one, in their order. [contract 2.2] */
export function mustFindAll<I extends string | number, T extends { readonly id: I }>(
  field: string,
  noun: string,
  ids: readonly I[],
  things: readonly T[],
): [T, ...T[]] {
  const known = new Map(things.map((thing) => [thing.id, thing]))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw unknownIds(field, noun, unknown)
  return ids.map((id) => known.get(id)) as [T, ...T[]]
}

/** Ids in a list body that name nothing: each is named. */
function unknownIds(field: string, noun: string, ids: readonly (string | number)[]): Failure {
  const names = ids.map((id) => String(id).slice(0, 64).toWellFormed())
  const [there, them] = names.length === 1 ? [`is no ${noun}`, 'it'] : [`are no ${noun}s`, 'them']
  return new Failure('INVALID_ARGUMENT', `there ${there} ${names.join(', ')}. Leave ${them} out; nothing was done.`, {
    violations: names.map((name) => ({ field, error: `names ${noun} ${name}, which does not exist` })),
  })
}

/** A mistake of the person who starts the program: printed as one sentence, without a stack. */
export class StartupError extends Error {}
