// Declares every option of the server once, for flags, environment variables, help and docs/operations.md.
import { isIP } from 'node:net'
import { type AirLimits, defaultAirLimits } from '../../contract/session.ts'
import { StartupError } from '../core/failure.ts'
import { airLimitsText, parseAirLimits } from './air-limits.ts'

export interface OptionSpec {
  /** In the syntax of commander, for example `--port <number>`. */
  readonly flag: string
  readonly env: string
  readonly default?: string | number | boolean
  readonly help: string
  readonly parse?: (text: string, before?: unknown) => unknown
}

const whole = (name: string, min: number, max: number) => (text: string) => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new StartupError(`${name} must be a whole number from ${min} to ${max}, not "${text}".`)
}

const portOrOff = (name: string) => (text: string) => {
  if (text === 'off') return text
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value <= 65535) return value
  throw new StartupError(`${name} must be a port from 0 to 65535, or off, not "${text}".`)
}

/** The option may be repeated, or have several values separated by commas. */
const list = (parse: (item: string) => string) => (text: string, before?: unknown) => [
  ...(Array.isArray(before) ? before : []),
  ...text.split(',').map((item) => parse(item.trim())),
]

const url = (name: string) => (text: string) => {
  if (/^https?:\/\/[^\s/?#]+\/*$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new StartupError(`${name} must be an address such as https://rooms.example.org, not "${text}".`)
}

/** A path is allowed for a service below a path of its host. Only characters that no proxy and no cookie has to escape are. */
const publicUrl = (name: string) => (text: string) => {
  const [, address = '', path = ''] = /^(https?:\/\/[^\s/?#]+)((?:\/[\w.~-]+)*)\/*$/.exec(text) ?? []
  const hasDotSegment = /\/\.{1,2}(?:\/|$)/.test(path)
  if (address !== '' && URL.canParse(address) && !hasDotSegment) return address + path
  throw new StartupError(
    `${name} must be an address such as https://rooms.example.org or https://example.org/rooms, not "${text}".`,
  )
}

const origin = (text: string) => new URL(url('--cors-origin')(text)).origin

const cidr = (item: string) => {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? []
  const family = isIP(address)
  if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) return item
  throw new StartupError(`--trust-proxy must be an address or CIDR such as 10.0.0.0/8, not "${item}".`)
}

const daysOrEver = (name: string) => (text: string) => {
  if (text === 'ever') return text
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= 1 && value <= maxRetentionDays) return value
  throw new StartupError(
    `${name} must be a whole number of days from 1 to ${maxRetentionDays}, or ever, not "${text}".`,
  )
}

const oneOf = (name: string, choices: readonly string[]) => (text: string) => {
  if (choices.includes(text)) return text
  throw new StartupError(`${name} must be one of ${choices.join(', ')}, not "${text}".`)
}

const maxRetentionDays = 3650

export interface RetentionOptions {
  /** Days. */
  readonly sampleRetention: number
  /** Days. */
  readonly rollupRetention: number
  /** Days. */
  readonly dailyRetention: number | 'ever'
  /** Minutes. */
  readonly roomFreshness: number
  readonly airLimits?: AirLimits
}

export const retentionDefaults: RetentionOptions = {
  sampleRetention: 30,
  rollupRetention: 730,
  dailyRetention: 'ever',
  roomFreshness: 15,
}

export const backupDefaults = { everyHours: 24, keepCount: 7 }

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

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
    help: 'the secret that is not in the database (default: secret.key in the data folder)',
  },
  {
    flag: '--config <file>',
    env: 'ROOMKEEPER_CONFIG',
    help: 'read settings from this file, a line NAME=value for each variable; options and variables take precedence',
  },
]

export const serveOptions: readonly OptionSpec[] = [
  {
    flag: '--port <number>',
    env: 'ROOMKEEPER_PORT',
    default: 8080,
    help: 'port of the API; 0 takes a free one',
    parse: whole('--port', 0, 65535),
  },
  {
    flag: '--host <address>',
    env: 'ROOMKEEPER_HOST',
    default: '127.0.0.1',
    help: 'address to listen on; only this machine can reach the default',
  },
  {
    flag: '--health-port <number>',
    env: 'ROOMKEEPER_HEALTH_PORT',
    default: 'off',
    help: 'second port for /livez, /readyz and /metrics, which answers under any load; 0 takes a free one',
    parse: portOrOff('--health-port'),
  },
  {
    flag: '--health-host <address>',
    env: 'ROOMKEEPER_HEALTH_HOST',
    default: '127.0.0.1',
    help: 'address of the health port, without HTTPS; only this machine can reach the default',
  },
  ...databaseOptions,
  {
    flag: '--public-url <url>',
    env: 'ROOMKEEPER_PUBLIC_URL',
    help: 'how others reach the service: used in links and in answers to devices',
    parse: publicUrl('--public-url'),
  },
  {
    flag: '--trust-proxy <cidr>',
    env: 'ROOMKEEPER_TRUST_PROXY',
    help: 'believe X-Forwarded-For from this proxy (repeatable), so that limits count its clients one by one',
    parse: list(cidr),
  },
  { flag: '--tls-cert <file>', env: 'ROOMKEEPER_TLS_CERT', help: 'certificate chain (PEM): serve HTTPS' },
  { flag: '--tls-key <file>', env: 'ROOMKEEPER_TLS_KEY', help: 'private key of the certificate (PEM)' },
  {
    flag: '--mqtt-port <number>',
    env: 'ROOMKEEPER_MQTT_PORT',
    default: 1883,
    help: 'port for devices (MQTT); 0 takes a free one, off closes it',
    parse: portOrOff('--mqtt-port'),
  },
  {
    flag: '--mqtt-host <address>',
    env: 'ROOMKEEPER_MQTT_HOST',
    default: '127.0.0.1',
    help: 'address to listen on for devices, with and without TLS; only this machine can reach the default',
  },
  {
    flag: '--mqtt-tls-port <number>',
    env: 'ROOMKEEPER_MQTT_TLS_PORT',
    default: 'off',
    help: 'port for devices over TLS, with the certificate of --tls-cert; usually 8883',
    parse: portOrOff('--mqtt-tls-port'),
  },
  {
    flag: '--log-retention <days>',
    env: 'ROOMKEEPER_LOG_RETENTION',
    default: 30,
    help: 'how long the logs of a bug report are kept',
    // Commands are deleted after 90 days, and they contain the result for each device's logs.
    parse: whole('--log-retention', 1, 90),
  },
  {
    flag: '--sample-retention <days>',
    env: 'ROOMKEEPER_SAMPLE_RETENTION',
    default: retentionDefaults.sampleRetention,
    help: 'how long every sample of a device is kept; older ones are refused',
    parse: whole('--sample-retention', 1, maxRetentionDays),
  },
  {
    flag: '--rollup-retention <days>',
    env: 'ROOMKEEPER_ROLLUP_RETENTION',
    default: retentionDefaults.rollupRetention,
    help: 'how long the 15-minute and hourly history is kept; not less than --sample-retention',
    parse: whole('--rollup-retention', 1, maxRetentionDays),
  },
  {
    flag: '--daily-retention <days>',
    env: 'ROOMKEEPER_DAILY_RETENTION',
    default: retentionDefaults.dailyRetention,
    help: 'how long the daily history is kept: ever, or not less than --rollup-retention',
    parse: daysOrEver('--daily-retention'),
  },
  {
    flag: '--room-freshness <minutes>',
    env: 'ROOMKEEPER_ROOM_FRESHNESS',
    default: retentionDefaults.roomFreshness,
    help: 'how long the latest sample of a device counts for its room',
    parse: whole('--room-freshness', 1, 1440),
  },
  {
    flag: '--air-limits <limits>',
    env: 'ROOMKEEPER_AIR_LIMITS',
    help: `which air the console shows as an outlier (default: ${airLimitsText(defaultAirLimits)}); those not named keep theirs, off is no limit`,
    parse: parseAirLimits,
  },
  {
    flag: '--backup-dir <folder>',
    env: 'ROOMKEEPER_BACKUP_DIR',
    help: 'make backups into this folder, which no other server uses; none are made without it',
  },
  {
    flag: '--backup-every <hours>',
    env: 'ROOMKEEPER_BACKUP_EVERY',
    default: backupDefaults.everyHours,
    help: 'hours between two backups',
    parse: whole('--backup-every', 1, 8760),
  },
  {
    flag: '--backup-keep <number>',
    env: 'ROOMKEEPER_BACKUP_KEEP',
    default: backupDefaults.keepCount,
    help: 'how many backups are kept; older ones are deleted',
    parse: whole('--backup-keep', 1, 10_000),
  },
  {
    flag: '--cors-origin <origin>',
    env: 'ROOMKEEPER_CORS_ORIGIN',
    help: 'let browsers of this origin call the API (repeatable)',
    parse: list(origin),
  },
  {
    flag: '--rate-limit <number>',
    env: 'ROOMKEEPER_RATE_LIMIT',
    default: 200,
    help: 'requests a second for each key; 0 switches the limit off',
    parse: whole('--rate-limit', 0, 1_000_000),
  },
  {
    flag: '--rate-burst <number>',
    env: 'ROOMKEEPER_RATE_BURST',
    help: 'requests that a key may send at once (default: twice the rate limit)',
    parse: whole('--rate-burst', 1, 10_000_000),
  },
  {
    flag: '--auth-failure-limit <number>',
    env: 'ROOMKEEPER_AUTH_FAILURE_LIMIT',
    default: 20,
    help: 'failed tokens a second for each address, with a burst of twenty times as many; 0 switches the limit off',
    parse: whole('--auth-failure-limit', 0, 1_000_000),
  },
  {
    flag: '--log-level <level>',
    env: 'ROOMKEEPER_LOG_LEVEL',
    default: 'info',
    help: `one of ${levels.join(', ')}`,
    parse: oneOf('--log-level', levels),
  },
  {
    flag: '--log-requests <which>',
    env: 'ROOMKEEPER_LOG_REQUESTS',
    default: 'writes',
    help: 'which requests get a log line: writes or all',
    parse: oneOf('--log-requests', ['writes', 'all']),
  },
]

export interface DatabaseOptions {
  readonly dataDir: string
  readonly databaseUrl?: string
  readonly secretKeyFile?: string
}

export interface ServeOptions extends DatabaseOptions, RetentionOptions {
  readonly port: number
  readonly host: string
  readonly healthPort: number | 'off'
  readonly healthHost: string
  readonly publicUrl?: string
  readonly trustProxy?: readonly string[]
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly mqttPort: number | 'off'
  readonly mqttHost: string
  readonly mqttTlsPort: number | 'off'
  /** Days. */
  readonly logRetention: number
  readonly backupDir?: string
  /** Hours. */
  readonly backupEvery?: number
  readonly backupKeep?: number
  readonly corsOrigin?: readonly string[]
  readonly rateLimit: number
  readonly rateBurst?: number
  readonly authFailureLimit: number
  readonly logLevel: string
  readonly logRequests: string
}
