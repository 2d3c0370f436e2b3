// Enrolment codes of rooms: easy to read aloud, hard to guess. [contract D.6]

import { formatCode, normaliseCode, randomCode } from '../../auth/readable-code.ts'
import type { Secrets } from '../../core/secrets.ts'

export const enrolmentCodeTimeoutHours = 24
/** What `decUsed` says of a code that nobody used: the year 1. [contract 5.4.room] */
const neverUsed = '-62135596800'

/** 60 random bits. */
export const makeEnrolmentCode = (): string => formatCode(randomCode(12))

/** How a code is found again: keyed, so that the database alone does not give codes away. */
export const enrolmentCodeMac = (secrets: Secrets, code: string): Buffer =>
  secrets.mac('enrolment code look-up', normaliseCode(code))

export const enrolmentCodeContext = (org: string, room: number): string => `dec/${org}/${room}`

interface Dec {
  readonly dec_sealed: Buffer
  readonly dec_used_at: number | null
  readonly dec_timeout: number
}

/** So many hours after its first use. */
export const isEnrolmentCodeExpired = ({ dec_used_at, dec_timeout }: Omit<Dec, 'dec_sealed'>, now: number): boolean =>
  dec_used_at !== null && dec_used_at + dec_timeout * 3_600_000 <= now

/** The three fields of a room that say how to enrol a device there; an expired code is left out. */
export const enrolmentCodeFields = (secrets: Secrets, context: string, dec: Dec, now: number) => ({
  ...(!isEnrolmentCodeExpired(dec, now) && { dec: secrets.unseal(dec.dec_sealed, context) }),
  decUsed: dec.dec_used_at === null ? neverUsed : String(Math.floor(dec.dec_used_at / 1000)),
  decTimeout: dec.dec_timeout,
})
