// Makes and checks the random challenges that authenticators sign. A challenge carries its end and a MAC, so making one writes nothing.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { minuteMs } from '../../../contract/durations.ts'
import type { Secrets } from '../../core/secrets.ts'

/** A challenge for adding a passkey names the person, so that it is of no use to another one. */
export type ChallengeSubject = 'sign-in' | `add ${string}`

export const challengeLifetimeMs = 5 * minuteMs

const expiryBytes = 8
const randomPartBytes = 24
const macBytes = 16

export function makeChallenge(secrets: Secrets, subject: ChallengeSubject, now: number): Buffer<ArrayBuffer> {
  const expiry = Buffer.alloc(expiryBytes)
  expiry.writeBigUInt64BE(BigInt(now + challengeLifetimeMs))
  const start = Buffer.concat([expiry, randomBytes(randomPartBytes)])
  return Buffer.concat([start, macOf(secrets, subject, start)])
}

/** Returns when a challenge of this server ends, or undefined for one that has ended, or is for something else. */
export function challengeEnd(
  secrets: Secrets,
  subject: ChallengeSubject,
  challenge: string,
  now: number,
): number | undefined {
  const bytes = Buffer.from(challenge, 'base64url')
  if (bytes.length !== expiryBytes + randomPartBytes + macBytes || bytes.toString('base64url') !== challenge) {
    return undefined
  }
  const start = bytes.subarray(0, expiryBytes + randomPartBytes)
  if (!timingSafeEqual(bytes.subarray(start.length), macOf(secrets, subject, start))) return undefined
  const end = Number(start.readBigUInt64BE())
  return end > now ? end : undefined
}

const macOf = (secrets: Secrets, subject: ChallengeSubject, start: Buffer): Buffer =>
  secrets.mac('passkey challenge', start, subject).subarray(0, macBytes)

/** The console forbids framing, so an answer from within a page of another site is forged. The library accepts some of these. */
export const isFramed = (clientDataJSON: string): boolean =>
  JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).crossOrigin === true
