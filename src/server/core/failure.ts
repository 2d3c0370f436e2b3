// Failures that rules throw, with a code and a sentence. The HTTP layer turns them into responses.
import type { ErrorCode, Violation } from '../../contract/error.ts'
import type { Permission } from '../../contract/people/permissions.ts'

/** Clients match these beginnings of messages. [contract 2.2] */
const prefixes: Partial<Record<ErrorCode, string>> = {
  INVALID_ARGUMENT: 'Invalid request: ',
  FAILED_PRECONDITION: 'Operation preconditions not met: ',
  NOT_FOUND: 'Requested resource not found: ',
}

interface FailureExtras {
  violations?: readonly Violation[]
  /** When the caller should try again. */
  retryAfterSeconds?: number
  /** The permissions of which the caller lacks one. */
  neededPermissions?: readonly Permission[]
  /** The caller sent no valid session or token, and can try again with one. */
  needsToken?: true
  /** For failures that only HTTP can have. */
  headers?: Readonly<Record<string, string>>
  /** Overrides the status of the code. Two statuses share ABORTED, and 409 is the default. */
  status?: number
  /** The sentence is the whole message, without a prefix, because clients match it word for word. */
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

/** Refuses a window of time that ends before it begins. */
export function refuseReversed({
  from,
  to,
}: {
  readonly from?: number | undefined
  readonly to?: number | undefined
}): void {
  if (from !== undefined && to !== undefined && from > to) {
    throw invalid([{ field: 'from', error: 'must not be after to' }])
  }
}

/** Does not reveal whether the organisation exists. [contract 2.4] */
export const organisationNotFound = (): Failure =>
  new Failure('NOT_FOUND', 'Requested resource not found', { exact: true })

/** For a sentence that pages show too. The message of a failure goes on in the middle of a sentence. */
export const preconditionFailed = (sentence: string): Failure =>
  new Failure('FAILED_PRECONDITION', sentence.charAt(0).toLowerCase() + sentence.slice(1))

/** Throws NOT_FOUND if a look-up found nothing. */
export function mustFind<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Failure('NOT_FOUND', `there is no ${what}.`)
  return found
}

/** Finds the row that a request body refers to. 0 and null refer to none; an unknown id is a failed precondition. [contract 2.2] */
export async function findReferenced<T>(
  noun: string,
  id: number | null | undefined,
  find: (id: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  if (!id) return undefined
  const found = await find(id)
  if (found !== undefined) return found
  throw new Failure('FAILED_PRECONDITION', `there is no ${noun} ${id}. Create it first, or send null for none.`)
}

/** Returns the rows of the ids in a list body, at least one, in the order of the ids. [contract 2.2] */
export function mustFindAll<I extends string | number, T extends { readonly id: I }>(
  field: string,
  noun: string,
  ids: readonly I[],
  rows: readonly T[],
): [T, ...T[]] {
  const known = new Map(rows.map((row) => [row.id, row]))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0) throw unknownIds(field, noun, unknown)
  return ids.map((id) => known.get(id)) as [T, ...T[]]
}

/** The failure for unknown ids in a list body, with a violation for each. */
function unknownIds(field: string, noun: string, ids: readonly (string | number)[]): Failure {
  const names = ids.map((id) => String(id).slice(0, 64).toWellFormed())
  const [there, them] = names.length === 1 ? [`is no ${noun}`, 'it'] : [`are no ${noun}s`, 'them']
  return new Failure('INVALID_ARGUMENT', `there ${there} ${names.join(', ')}. Leave ${them} out; nothing was done.`, {
    violations: names.map((name) => ({ field, error: `names ${noun} ${name}, which does not exist` })),
  })
}

/** An error that the operator can correct, such as a wrong option. The program prints its message without a stack. */
export class StartupError extends Error {
  readonly exitCode: number

  /** The exit code tells a supervisor whether another start can help. */
  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}
