// Troubles of a database that are not our mistakes, and what to tell the caller about them.
import { Failure } from '../core/failure.ts'

/**
 * A race may be won at the next try; a full disk and a lost connection are not ours to mend. A statement that was never sent
 * (unreachable), or that the server gave up (slow), has certainly not been done; with a lost connection nobody knows (gone).
 */
export type DatabaseProblem = 'race' | 'locked' | 'full' | 'slow' | 'unreachable' | 'gone'

/** Nothing was sent, because the database is known not to answer. */
export class DatabaseUnreachable extends Error {
  override readonly message = 'the database does not answer'
}

const codes: Record<string, DatabaseProblem> = {
  SQLITE_BUSY: 'race',
  SQLITE_BUSY_SNAPSHOT: 'race',
  '40001': 'race',
  '40P01': 'race',
  '55P03': 'locked',
  '57014': 'slow',
  SQLITE_FULL: 'full',
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

/** The driver gives these no code. */
const lost =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e|Query read timeout)/

export function databaseProblemOf(error: unknown): DatabaseProblem | undefined {
  if (error instanceof DatabaseUnreachable) return 'unreachable'
  const { code = '', message = '' } = error as { code?: string; message?: string }
  return codes[code] ?? (/^08/.test(code) || lost.test(message) ? 'gone' : undefined)
}

export const retryLater = { headers: { 'Retry-After': '5' } }

/** What is wrong is the database, not what was asked of it. */
export class DatabaseFailure extends Failure {}

export function databaseFailure(trouble: DatabaseProblem, wasWriting: boolean): DatabaseFailure {
  switch (trouble) {
    case 'race':
    case 'locked':
      return new DatabaseFailure(
        'ABORTED',
        'Another write got in the way, and nothing was changed. Send the request again.',
      )
    case 'full':
      return new DatabaseFailure(
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
      return new DatabaseFailure(
        'UNAVAILABLE',
        `The database does not answer${wasWriting ? ', and nothing was changed' : ''}. Send the request again in a moment.`,
        retryLater,
      )
    case 'gone':
      return new DatabaseFailure(
        'UNAVAILABLE',
        wasWriting
          ? 'The database was lost on the way: the change may have been made. Look before you send it again.'
          : 'The database cannot be reached. Send the request again in a moment.',
        retryLater,
      )
  }
}
