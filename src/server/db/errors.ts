// Problems of a database that are no bugs of this program, and the messages that callers get about them.
import { Failure } from '../core/failure.ts'

/**
 * After a `race` a retry may succeed. A transaction whose COMMIT was never sent (`unreachable`), or that the server cancelled
 * (`slow`), or that was refused because this node was declared dead (`fenced`), has certainly changed nothing. If the connection was lost after the COMMIT was sent (`gone`), it may have.
 */
export type DatabaseProblem = 'race' | 'locked' | 'full' | 'slow' | 'unreachable' | 'gone' | 'fenced'

/** Thrown where the database does not answer and certainly nothing was changed: no COMMIT was sent. */
export class DatabaseUnreachable extends Error {
  constructor(cause?: unknown) {
    super('the database does not answer', { cause })
  }
}

const codes: Record<string, DatabaseProblem> = {
  SQLITE_BUSY: 'race',
  SQLITE_BUSY_SNAPSHOT: 'race',
  '40001': 'race',
  '40P01': 'race',
  '55P03': 'locked',
  '57014': 'slow',
  SQLITE_FULL: 'full',
  SQLITE_IOERR_SHMSIZE: 'full', // the file that connections share cannot grow
  ENOSPC: 'full',
  EDQUOT: 'full',
  '53100': 'full',
  ECONNREFUSED: 'gone',
  ECONNRESET: 'gone',
  ETIMEDOUT: 'gone',
  EPIPE: 'gone',
  ENOTFOUND: 'gone',
  EAI_AGAIN: 'gone',
  EHOSTUNREACH: 'gone',
  ENETUNREACH: 'gone',
  '25006': 'gone', // became a standby
  '25P03': 'gone',
  '53300': 'gone',
  '57P01': 'gone',
  '57P02': 'gone',
  '57P03': 'gone',
}

/** Messages of errors to which the driver gives no code. */
const lostConnectionMessage =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e|Query read timeout)/

export function databaseProblemOf(error: unknown): DatabaseProblem | undefined {
  if (error instanceof DatabaseUnreachable) return 'unreachable'
  const {
    code = '',
    message = '',
    table,
    column,
  } = error as Partial<Record<'code' | 'message' | 'table' | 'column', string>>
  if (code === '23502' && table === 'nodes' && column === 'changes') return 'fenced'
  return codes[code] ?? (/^08/.test(code) || lostConnectionMessage.test(message) ? 'gone' : undefined)
}

export const retryLater = { retryAfterSeconds: 5 }

/** A failure whose cause is the database and not the request. */
export class DatabaseFailure extends Failure {}

/** The database cannot be reached, or its connection was lost. It usually answers again soon. */
export class DatabaseOutage extends DatabaseFailure {}

/** The disk of the database has no space left. */
export class DiskFull extends DatabaseFailure {}

/** Also finds an error that another one was made of. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof DiskFull || databaseProblemOf(error) === 'full' || isDiskFull(error.cause))

export function databaseFailure(problem: DatabaseProblem, wasWriting: boolean): DatabaseFailure {
  switch (problem) {
    case 'race':
    case 'locked':
      return new DatabaseFailure(
        'ABORTED',
        'A concurrent write conflicted with this one, and nothing was changed. Send the request again.',
      )
    case 'full':
      return new DiskFull(
        'UNAVAILABLE',
        'The disk of the database is full, and nothing was changed. Free some space.',
        retryLater,
      )
    case 'slow':
      return new DatabaseFailure(
        'UNAVAILABLE',
        'The database took too long, and nothing was changed. Send the request again in a moment.',
        retryLater,
      )
    case 'unreachable':
      return new DatabaseOutage(
        'UNAVAILABLE',
        `The database does not answer${wasWriting ? ', and nothing was changed' : ''}. Send the request again in a moment.`,
        retryLater,
      )
    case 'fenced':
      return new DatabaseFailure(
        'UNAVAILABLE',
        'The other servers declared this one dead because it was silent, and nothing was changed. Send the request again in a moment.',
        retryLater,
      )
    case 'gone':
      return new DatabaseOutage(
        'UNAVAILABLE',
        wasWriting
          ? 'The connection to the database was lost, and the change may have been made. Read before you try again.'
          : 'The database cannot be reached. Send the request again in a moment.',
        // A client that repeats requests by itself must not repeat a change that may have been made.
        wasWriting ? {} : retryLater,
      )
  }
}
