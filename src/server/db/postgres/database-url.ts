// Checks the URL of a PostgreSQL database, and explains a failed connection.
import pg from 'pg'
import { StartupError } from '../../core/failure.ts'

export function checkDatabaseUrl(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && canParse(url)) return
  throw new StartupError(
    '--database-url must be like postgres://user:password@host:5432/name. Leave it out to use SQLite.',
  )
}

/** Lets the driver parse the URL, because it also accepts sockets: postgres://user@/name?host=/run/postgresql */
function canParse(url: string): boolean {
  try {
    new pg.Client({ connectionString: url })
    return true
  } catch {
    return false
  }
}

/** The message does not contain the URL, because that may contain a password. */
export function databaseUnreachable(error: unknown): StartupError {
  const { code, message, errors } = error as NodeJS.ErrnoException & { errors?: Error[] }
  const reason = message || errors?.[0]?.message || code || 'unknown reason'
  return new StartupError(`Cannot reach PostgreSQL: ${reason}. Check --database-url.`)
}
