// The token that confirms a call: a MAC over the caller, the tool, its arguments, what they resolve to, and the end of its validity.
import { timingSafeEqual } from 'node:crypto'
import { minuteMs } from '../contract/durations.ts'

const validMs = 5 * minuteMs

/** A call of a tool, with everything that a person confirms. */
export interface ConfirmedCall {
  readonly caller: string
  readonly tool: string
  readonly args: object
  /** The identifiers that the arguments resolve to. */
  readonly ids: readonly string[]
}

/** Signs a text with a key that callers do not know. */
export type Sign = (text: string) => Buffer

export class Confirmations {
  readonly #sign: Sign
  readonly #now: () => number

  constructor(sign: Sign, now: () => number) {
    this.#sign = sign
    this.#now = now
  }

  make(call: ConfirmedCall): { readonly token: string; readonly validUntil: number } {
    const validUntil = this.#now() + validMs
    return { token: `${validUntil.toString(36)}.${this.#mac(call, validUntil).toString('base64url')}`, validUntil }
  }

  /** When a valid token was made. */
  plannedAt(token: string): number {
    return Number.parseInt(token, 36) - validMs
  }

  check(call: ConfirmedCall, token: string): 'valid' | 'too late' | 'another call' {
    const [, end = '', mac = ''] = /^([0-9a-z]{1,11})\.([\w-]{43})$/.exec(token) ?? []
    const validUntil = Number.parseInt(end, 36)
    if (mac === '' || !timingSafeEqual(Buffer.from(mac, 'base64url'), this.#mac(call, validUntil)))
      return 'another call'
    return validUntil <= this.#now() ? 'too late' : 'valid'
  }

  #mac({ caller, tool, args, ids }: ConfirmedCall, validUntil: number): Buffer {
    return this.#sign(JSON.stringify([caller, tool, sorted(args), ids.toSorted(), validUntil]))
  }
}

/** Sorts names, because arguments in another order make the same call. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, sorted(inner)] as const)
  return entries.sort(([a], [b]) => (a < b ? -1 : 1))
}
