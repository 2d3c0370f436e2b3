// Makes, looks up and shows the enrolment codes of rooms. [contract D.6]

import { hourMs } from '../../../contract/durations.ts'
import { formatCode, normaliseCode, randomCode } from '../../auth/readable-code.ts'
import type { Secrets } from '../../core/secrets.ts'

export const enrolmentCodeTimeoutHours = 24
/** `decUsed` has this value, the year 1 in seconds, for a code that was never used. [contract 5.4.room] */
const neverUsedSeconds = '-62135596800'

/** The code has 60 random bits, in letters and digits that are easy to read aloud. */
export const makeEnrolmentCode = (): string => formatCode(randomCode(12))

/** The look-up value of a code is a keyed hash, so that a copy of the database does not reveal codes. */
export const enrolmentCodeMac = (secrets: Secrets, code: string): Buffer =>
  secrets.mac('enrolment code look-up', normaliseCode(code))

export const enrolmentCodeContext = (org: string, room: number): string => `dec/${org}/${room}`

interface StoredCode {
  readonly dec_sealed: Buffer
  readonly dec_used_at: number | null
  readonly dec_timeout: number
}

/** A code expires `dec_timeout` hours after its first use; an unused code does not expire. */
export const isEnrolmentCodeExpired = (
  { dec_used_at, dec_timeout }: Omit<StoredCode, 'dec_sealed'>,
  now: number,
): boolean => dec_used_at !== null && dec_used_at + dec_timeout * hourMs <= now

/** The address that the QR code of a room contains. [contract 8.code] */
export const enrolmentUrl = (publicUrl: string, code: string): string => `${publicUrl}/enrol#${code}`

/** Returns the fields of a room that show its enrolment code. An expired code itself is left out. */
export const enrolmentCodeFields = (secrets: Secrets, context: string, dec: StoredCode, now: number) => ({
  ...(!isEnrolmentCodeExpired(dec, now) && { dec: secrets.unseal(dec.dec_sealed, context) }),
  decUsed: dec.dec_used_at === null ? neverUsedSeconds : String(Math.floor(dec.dec_used_at / 1000)),
  decTimeout: dec.dec_timeout,
})
