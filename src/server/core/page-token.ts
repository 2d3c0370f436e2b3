// Page tokens, which are opaque, signed, and valid only for one list. [contract 4.auditLogs]
import { timingSafeEqual } from 'node:crypto'
import { invalid } from './failure.ts'
import type { RegionAccess } from './region-access.ts'
import type { Secrets } from './secrets.ts'

/** 0 and undefined mean the default size; a larger size than the maximum means the maximum. [contract 4.auditLogs] */
export function pageSizeOf(requested: number | undefined, defaultSize: number, maxSize: number): number {
  if (requested !== undefined && requested < 0) throw invalid([{ field: 'pageSize', error: 'must not be negative' }])
  return Math.min(requested || defaultSize, maxSize)
}

/** The limit for entries that are listed newest first: of the audit log, incidents and deliveries. */
export const maxLogPageEntries = 1000
const defaultLogPageEntries = 100
export const logPageSizeOf = (requested: number | undefined): number =>
  pageSizeOf(requested, defaultLogPageEntries, maxLogPageEntries)

export interface PagePosition {
  readonly timestamp: number
  readonly seq: number
}

/** The caller of a list, as far as page tokens depend on it. */
export interface PageCaller {
  readonly org: { readonly id: string }
  readonly actor: { readonly type: string; readonly id: string }
  readonly user?: { readonly role: string } | undefined
  readonly access: RegionAccess
}

/** A token is valid only for this caller, with this role and these regions, and for this list. [contract 11.access] */
export const pageContext = ({ org, actor, user, access }: PageCaller, ...list: readonly (string | number)[]): string =>
  [org.id, actor.type, actor.id, user?.role ?? '', access.key, ...list].join('/')

/** `context` is the result of `pageContext`. */
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

/** Cuts off the row that was read beyond `size`, which shows that there is a next page, and makes the token of that page. */
export function cutPage<R>(
  secrets: Secrets,
  context: string,
  rows: readonly R[],
  size: number,
  positionOf: (row: R) => PagePosition,
): { readonly page: readonly R[]; readonly nextPageToken: string } {
  const page = rows.slice(0, size)
  const last = page.at(-1)
  const nextPageToken = rows.length > size && last ? pageTokenAt(secrets, context, positionOf(last)) : ''
  return { page, nextPageToken }
}
