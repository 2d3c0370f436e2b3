// Does a request with an Idempotency-Key once: a repeat gets the answer of the first. [contract 7.once]

import { hourMs } from '../../../contract/durations.ts'
import { idempotencyKeyHeader, idempotencyKeyHours, maxIdempotencyKeys } from '../../../contract/idempotency.ts'
import type { Operation } from '../../../contract/operation.ts'
import { operations } from '../../../contract/operations.ts'
import { byteLengthOf, ReadyAnswer, ReplayedAnswer, VersionedAnswer } from '../../context/answers.ts'
import { readyAnswerOf } from '../../context/if-match.ts'
import type { KeyedRequest, RequestContext } from '../../context/request-context.ts'
import { Failure } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { listAfter } from '../audit/store.ts'
import { findIdempotencyKey, type KeyValues, listEnds, putIdempotencyKey, updateAnswer } from './store.ts'

export const keyRetentionMs = idempotencyKeyHours * hourMs
/** A longer answer is not stored, nor one that exceeds what an organisation may store in all. */
const maxAnswerBytes = 512 * 1024
const maxTotalBytes = 256 * 1024 * 1024

/** Ends a change that was already made by an earlier request with the key. */
class AlreadyDone {
  readonly answer: ReplayedAnswer

  constructor(answer: ReplayedAnswer) {
    this.answer = answer
  }
}

/** The requests with keys that run in this process. */
export class KeyedRequests {
  readonly #running = new Set<string>()

  /** Runs the rule of a request, unless an earlier request with the key was answered already. */
  async answer(ctx: RequestContext, keyed: KeyedRequest, run: () => unknown): Promise<unknown> {
    const name = `${ctx.org.key}/${keyed.id.toString('latin1')}`
    if (this.#running.has(name)) throw stillRunning()
    this.#running.add(name)
    try {
      return (await findAnswer(ctx, ctx.db, keyed)) ?? (await runOnce(ctx, keyed, run))
    } finally {
      this.#running.delete(name)
    }
  }
}

/** An earlier request may have been committed by another node since the first look. */
async function runOnce(ctx: RequestContext, keyed: KeyedRequest, run: () => unknown): Promise<unknown> {
  const isLate = operationOf(keyed).repeat === 'later'
  try {
    const answer = await run()
    if (isLate) await storeLateAnswer(ctx, keyed, answer)
    return answer
  } catch (error) {
    if (error instanceof AlreadyDone) return error.answer
    if (isLate) await storeLateAnswer(ctx, keyed, undefined)
    throw error
  }
}

/** The place of a new key among those of its organisation. */
export interface KeyPlace {
  readonly number: number
  /** The bytes of all answers before it, and of those that are still stored. */
  readonly totalBytes: number
  readonly storedBytes: number
}

/** Is called in a change, while the head of the audit log is locked. Throws if the change was made already. */
export async function requireUnusedKey(tx: Tx, ctx: RequestContext, keyed: KeyedRequest): Promise<KeyPlace> {
  const answer = await findAnswer(ctx, tx, keyed)
  if (answer) throw new AlreadyDone(answer)
  const [oldest, newest] = await listEnds(tx)
  if (!oldest || !newest) return { number: 1, totalBytes: 0, storedBytes: 0 }
  if (newest.number - oldest.number + 1 >= maxIdempotencyKeys) {
    const freeInSeconds = Math.ceil((oldest.created_at + keyRetentionMs - ctx.clock.now()) / 1000)
    throw new Failure(
      'RESOURCE_EXHAUSTED',
      `The organisation has sent ${maxIdempotencyKeys} requests with an ${idempotencyKeyHeader} in ${idempotencyKeyHours} hours. Send the request without the header, or wait.`,
      { retryAfterSeconds: Math.max(1, freeInSeconds) },
    )
  }
  const totalBytes = newest.total_bytes
  return { number: newest.number + 1, totalBytes, storedBytes: totalBytes - oldest.total_bytes }
}

/** Stores the key in the commit of the change, with the answer unless that shows a secret, is long, or follows the commit. */
export async function storeKey(
  tx: Tx,
  ctx: RequestContext,
  { operation, id, request }: KeyedRequest,
  { number, totalBytes, storedBytes }: KeyPlace,
  { entry, answer }: { readonly entry: number; readonly answer: unknown },
): Promise<void> {
  const { repeat }: Operation = operations[operation]
  const now = ctx.clock.now()
  const stored = repeat === undefined && storedBytes < maxTotalBytes ? sealedAnswer(ctx, id, answer) : noAnswer
  await putIdempotencyKey(tx, {
    id,
    request,
    number,
    total_bytes: totalBytes + (stored.answer?.length ?? 0),
    entry,
    ...stored,
    pending_until: repeat === 'later' ? now + ctx.limits.lateAnswerMs : null,
    created_at: now,
  })
}

async function storeLateAnswer(ctx: RequestContext, { id }: KeyedRequest, answer: unknown): Promise<void> {
  const values = answer === undefined ? noAnswer : sealedAnswer(ctx, id, answer)
  await ctx.db.telemetry((tx) => updateAnswer(tx, { id, ...values }))
}

const noAnswer = { answer: null, etag: null }

/** Answers are sealed, because some show what is sealed elsewhere too, such as the enrolment code of a room. */
function sealedAnswer(ctx: RequestContext, id: Buffer, answer: unknown): Pick<KeyValues, 'answer' | 'etag'> {
  const { body, etag } = storableAnswer(answer)
  if (byteLengthOf(body) > maxAnswerBytes) return noAnswer
  return { answer: ctx.secrets.seal(body, answerContext(ctx.org.key, id)), etag }
}

function storableAnswer(answer: unknown): { readonly body: string; readonly etag: string | null } {
  const ready = answer instanceof VersionedAnswer ? readyAnswerOf(answer) : answer
  if (!(ready instanceof ReadyAnswer)) return { body: JSON.stringify(ready), etag: null }
  const { body, etag } = ready
  return { body: typeof body === 'string' ? body : Buffer.concat(body).toString(), etag }
}

/** A stored answer cannot be moved to another key. */
export const answerContext = (org: number, id: Buffer): string => `idempotency key ${org} ${id.toString('hex')}`

/** The answer of an earlier request with the key, if there was one that succeeded. */
async function findAnswer(
  ctx: RequestContext,
  on: OrgReader,
  keyed: KeyedRequest,
): Promise<ReplayedAnswer | undefined> {
  const { id, request } = keyed
  const now = ctx.clock.now()
  const row = await findIdempotencyKey(on, { id, since: now - keyRetentionMs })
  if (!row) return undefined
  if (!row.request.equals(request)) throw usedOtherwise()
  if (row.answer !== null) {
    return new ReplayedAnswer(ctx.secrets.unseal(row.answer, answerContext(ctx.org.key, id)), row.etag ?? undefined)
  }
  if (row.pending_until !== null && row.pending_until > now) throw stillRunning()
  throw await answerNotStored(on, keyed, row.entry)
}

const usedOtherwise = () =>
  new Failure(
    'FAILED_PRECONDITION',
    `this ${idempotencyKeyHeader} was sent with another request, or while you had another role or other regions. Send a new key with each new request.`,
  )

const stillRunning = () =>
  new Failure(
    'ABORTED',
    `An earlier request with this ${idempotencyKeyHeader} still runs. Send the request again after Retry-After.`,
    { retryAfterSeconds: 1 },
  )

/** Names what the first request made, because the caller cannot read it in the answer. */
async function answerNotStored(on: OrgReader, keyed: KeyedRequest, seq: number): Promise<Failure> {
  const [entry] = await listAfter(on, { seq: seq - 1, limit: 1 })
  const made = entry ? `${entry.type}, ${entry.target_type} ${entry.target_id} (${entry.target_name})` : 'its change'
  const reason = operationOf(keyed).repeat === 'secret' ? 'shows a secret, which is shown once' : 'was not stored'
  return new Failure(
    'FAILED_PRECONDITION',
    `a request with this ${idempotencyKeyHeader} was done already, and its answer ${reason}. It made ${made}, audit entry ${seq}. Read that, and send a new key with a new request.`,
  )
}

const operationOf = ({ operation }: KeyedRequest): Operation => operations[operation]
