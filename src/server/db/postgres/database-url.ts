// The address of a PostgreSQL database: whether it is one, and what to say when nobody answers there.
import pg from 'pg'
import { StartupError } from '../../core/failure.ts'

export function checkDatabaseUrl(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && isReadable(url)) return
  throw new StartupError(
    '--database-url must be like postgres://user:password@host:5432/name. Leave it out to use SQLite.',
  )
}

/** By the driver's own rules, which also know sockets: postgres://user@/name?host=/run/postgresql */
function isReadable(url: string): boolean {
  try {
    new pg.Client({ connectionString: url })
    return true
  } catch {
    return false
  }
}

/** What a failed connection says, without the address: it may hold a password. */
export function databaseUnreachable(error: unknown): StartupError {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: Error[] }
  const reason = message || errors?.[0]?.message || code || 'unknown reason'
  return new StartupError(`Cannot reach PostgreSQL: ${reason}. Check --database-url.`)
}
