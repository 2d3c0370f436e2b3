// Page tokens, which are opaque, signed, and valid only for one list. [contract 4.auditLogs]
import { timingSafeEqual } from 'node:crypto'
import { invalid } from './failure.ts'
import type { Secrets } from './secrets.ts'

/** 0 and undefined mean the default size; a larger size than the maximum means the maximum. [contract 4.auditLogs] */
export function pageSizeOf(requested: number | undefined, defaultSize: number, maxSize: number): number {
  if (requested !== undefined && requested < 0) throw invalid([{ field: 'pageSize', error: 'must not be negative' }])
  return Math.min(requested || defaultSize, maxSize)
}

export interface PagePosition {
  readonly timestamp: number
  readonly seq: number
}

/** `context` names organisation and time window: a token is not valid for another one. */
export function pageTokenAt(secrets: Secrets, context: string, { timestamp, seq }: PagePosition): string {
  const position = Buffer.alloc(16)
  position.writeBigInt64BE(BigInt(timestamp), 0)
  position.writeBigInt64BE(BigInt(seq), 8)
  return Buffer.concat([position, sign(secrets, context, position)]).toString('base64url')
}

export function positionOfPageToken(secrets: Secrets, context: string, token: string): PagePosition {
  const bytes = Buffer.from(token, 'base64url')
  const position = bytes.subarray(0, 16)
  if (
    bytes.length !== 32 ||
    bytes.toString('base64url') !== token ||
    !timingSafeEqual(bytes.subarray(16), sign(secrets, context, position))
  ) {
    throw invalid([{ field: 'pageToken', error: 'is not a nextPageToken of this window. Start again without it' }])
  }
  return { timestamp: Number(position.readBigInt64BE(0)), seq: Number(position.readBigInt64BE(8)) }
}

const sign = (secrets: Secrets, context: string, position: Buffer) =>
  secrets.mac('page token', context, '\n', position).subarray(0, 16)
