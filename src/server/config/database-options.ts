// Declares the options that every command has: they say where the database is.

export interface OptionSpec {
  /** In the syntax of commander, for example `--port <number>`. */
  readonly flag: string
  readonly env: string
  readonly default?: string | number | boolean
  readonly help: string
  readonly parse?: (text: string, before?: unknown) => unknown
  /** True if the database stores the value, because all nodes must use the same one. */
  readonly isShared?: true
}

/** The units that a flag names in its syntax, such as `--settle <minutes>`, as the ends of names. */
const unitSuffixes: Readonly<Record<string, string>> = {
  seconds: 'Seconds',
  minutes: 'Minutes',
  hours: 'Hours',
  days: 'Days',
  gigabytes: 'Gigabytes',
}

/** The name of an option's value in the program ends with its unit: sampleRetentionDays for `--sample-retention <days>`. */
export function withUnit(name: string, flag: string): string {
  const suffix = unitSuffixes[/<(\w+)>/.exec(flag)?.[1] ?? ''] ?? ''
  return name.endsWith(suffix) ? name : name + suffix
}

/** These say where the database is, and every command has them. */
export const databaseOptions: readonly OptionSpec[] = [
  {
    flag: '--data-dir <folder>',
    env: 'ROOMKEEPER_DATA_DIR',
    default: './data',
    help: 'folder of the SQLite database, the secret key and the lock',
  },
  {
    flag: '--database-url <url>',
    env: 'ROOMKEEPER_DATABASE_URL',
    help: 'use this PostgreSQL database (postgres://…) instead of SQLite',
  },
  {
    flag: '--secret-key-file <file>',
    env: 'ROOMKEEPER_SECRET_KEY_FILE',
    help: 'file of the secret key, which is not in the database (default: secret.key in the data folder)',
  },
  {
    flag: '--config <file>',
    env: 'ROOMKEEPER_CONFIG',
    help: 'read settings from this file, a line NAME=value for each variable; options and variables take precedence',
  },
]
