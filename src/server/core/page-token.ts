// Page tokens: opaque, signed, and bound to what they page through. [contract 4.auditLogs]
import { timingSafeEqual } from 'node:crypto'
import { invalid } from './failure.ts'
import type { Secrets } from './secrets.ts'

/** 0 or absent means the usual size, more than the most means that. [contract 4.auditLogs] */
export function pageSizeOf(asked: number | undefined, usual: number, most: number): number {
  if (asked !== undefined && asked < 0) throw invalid([{ field: 'pageSize', error: 'must not be negative' }])
  return Math.min(asked || usual, most)
}

export interface PagePosition {
  readonly timestamp: number
  readonly seq: number
}

/** `context` names organisation and window: a token says nothing about another one. */
export function pageTokenAt(secrets: Secrets, context: string, { timestamp, seq }: PagePosition): string {
  const place = Buffer.alloc(16)
  place.writeBigInt64BE(BigInt(timestamp), 0)
  place.writeBigInt64BE(BigInt(seq), 8)
  return Buffer.concat([place, sign(secrets, context, place)]).toString('base64url')
}

export function positionOfPageToken(secrets: Secrets, context: string, token: string): PagePosition {
  const bytes = Buffer.from(token, 'base64url')
  const place = bytes.subarray(0, 16)
  if (
    bytes.length !== 32 ||
    bytes.toString('base64url') !== token ||
    !timingSafeEqual(bytes.subarray(16), sign(secrets, context, place))
  ) {
    throw invalid([{ field: 'pageToken', error: 'is not a nextPageToken of this window. Start again without it' }])
  }
  return { timestamp: Number(place.readBigInt64BE(0)), seq: Number(place.readBigInt64BE(8)) }
}

const sign = (secrets: Secrets, context: string, place: Buffer) =>
  secrets.mac('page token', context, '\n', place).subarray(0, 16)
