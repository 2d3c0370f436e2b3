// The header with which a request can be sent twice and is done once. [contract 7.once]
import type { Operation } from './operation.ts'

export const idempotencyKeyHeader = 'Idempotency-Key'
/** Marks an answer that is the one of an earlier request. */
export const idempotencyReplayedHeader = 'Idempotency-Replayed'

export const maxIdempotencyKeyLength = 128
/** Visible characters of ASCII. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,128}$/
export const idempotencyKeyHours = 24
/** How many keys of the last 24 hours an organisation has at most. */
export const maxIdempotencyKeys = 100_000

/** Every POST with an audit entry takes the header. */
export const takesIdempotencyKey = ({ method, audit }: Operation): boolean => method === 'POST' && audit !== undefined
