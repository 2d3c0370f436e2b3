// Enrolment codes of rooms: easy to read aloud, hard to guess. [contract D.6]
import { randomText } from '../../platform/auth/token.ts'
import type { Secrets } from '../../platform/secrets.ts'

/** Without 0 and O, 1 and I: 32 letters, 5 bits each, 60 in all. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
export const defaultDecTimeout = 24
/** What `decUsed` says of a code that nobody used: the year 1. [contract 5.4.room] */
const neverUsed = '-62135596800'

export const makeCode = (): string => randomText(12, alphabet).replace(/(.{4})(.{4})(.{4})/, '$1-$2-$3')

/** How a code is found again: keyed, so that the database alone does not give codes away. */
export const codeMac = (secrets: Secrets, code: string): Buffer =>
  secrets.mac('enrolment code look-up', code.toUpperCase().replaceAll(/[\s-]/g, ''))

export const sealContext = (org: string, room: number): string => `dec/${org}/${room}`

interface Dec {
  readonly dec_sealed: Buffer
  readonly dec_used_at: number | null
  readonly dec_timeout: number
}

/** The three fields of a room that say how to enrol a device there; an expired code is left out. */
export const decFields = (secrets: Secrets, context: string, dec: Dec, now: number) => ({
  ...((dec.dec_used_at === null || dec.dec_used_at + dec.dec_timeout * 3_600_000 > now) && {
    dec: secrets.unseal(dec.dec_sealed, context),
  }),
  decUsed: dec.dec_used_at === null ? neverUsed : String(Math.floor(dec.dec_used_at / 1000)),
  decTimeout: dec.dec_timeout,
})
