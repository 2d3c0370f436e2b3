// Declares every option of the server once, for flags, environment variables, help and docs/operations.md.
import { defaultAirLimits } from '../../contract/people/session.ts'
import { airLimitsText, parseAirLimits } from './air-limits.ts'
import {
  maxRetentionDays,
  parseCidr,
  parseDaysOrEver,
  parseList,
  parseMqttUrl,
  parseNodeName,
  parseOneOf,
  parseOrigin,
  parseOutboundAllow,
  parsePortOrOff,
  parsePublicUrl,
  parseWhole,
} from './option-values.ts'
import type { RetentionOptions } from './server-options.ts'

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

export const retentionDefaults: RetentionOptions = {
  sampleRetention: 30,
  rollupRetention: 730,
  dailyRetention: 'ever',
  roomFreshness: 15,
}

export const bundleQuotaDefaultGb = 20

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
    help: 'file of the secret key, which is not in the database (default: secret.key in the data folder)',
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
    parse: parseWhole('--port', 0, 65535),
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
    parse: parsePortOrOff('--health-port'),
  },
  {
    flag: '--health-host <address>',
    env: 'ROOMKEEPER_HEALTH_HOST',
    default: '127.0.0.1',
    help: 'address of the health port, without HTTPS; only this machine can reach the default',
  },
  ...databaseOptions,
  {
    flag: '--node-name <name>',
    env: 'ROOMKEEPER_NODE_NAME',
    help: 'name of this server among those on the same PostgreSQL database (default: host and port)',
    parse: parseNodeName,
  },
  {
    flag: '--public-url <url>',
    env: 'ROOMKEEPER_PUBLIC_URL',
    help: 'how others reach the service: used in links and in answers to devices',
    parse: parsePublicUrl('--public-url'),
  },
  {
    flag: '--public-mqtt-url <url>',
    env: 'ROOMKEEPER_PUBLIC_MQTT_URL',
    help: 'how devices reach the MQTT ports behind a balancer (repeatable), such as mqtts://rooms.example.org:8883',
    parse: parseList(parseMqttUrl),
  },
  {
    flag: '--trust-proxy <cidr>',
    env: 'ROOMKEEPER_TRUST_PROXY',
    help: 'trust X-Forwarded-For, and on MQTT ports PROXY v2, from this proxy (repeatable), so that limits apply to each of its clients',
    parse: parseList(parseCidr),
  },
  {
    flag: '--outbound-allow <target>',
    env: 'ROOMKEEPER_OUTBOUND_ALLOW',
    help: 'host name, address or CIDR outside the public internet that the server may call, :port optional (repeatable), such as a sign-in provider in your network',
    parse: parseList(parseOutboundAllow),
  },
  { flag: '--tls-cert <file>', env: 'ROOMKEEPER_TLS_CERT', help: 'certificate chain (PEM): serve HTTPS' },
  { flag: '--tls-key <file>', env: 'ROOMKEEPER_TLS_KEY', help: 'private key of the certificate (PEM)' },
  {
    flag: '--mqtt-port <number>',
    env: 'ROOMKEEPER_MQTT_PORT',
    default: 1883,
    help: 'port for devices (MQTT); 0 takes a free one, off closes it',
    parse: parsePortOrOff('--mqtt-port'),
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
    parse: parsePortOrOff('--mqtt-tls-port'),
  },
  {
    flag: '--log-retention <days>',
    env: 'ROOMKEEPER_LOG_RETENTION',
    default: 30,
    help: 'how long the logs of a bug report are kept',
    isShared: true,
    // Commands are deleted after 90 days, and they contain the result for each device's logs.
    parse: parseWhole('--log-retention', 1, 90),
  },
  {
    flag: '--bundle-quota <gigabytes>',
    env: 'ROOMKEEPER_BUNDLE_QUOTA',
    default: bundleQuotaDefaultGb,
    help: 'how much space the logs of all bug reports may take; further uploads are refused',
    parse: parseWhole('--bundle-quota', 1, 100_000),
  },
  {
    flag: '--sample-retention <days>',
    env: 'ROOMKEEPER_SAMPLE_RETENTION',
    default: retentionDefaults.sampleRetention,
    help: 'how long every sample of a device is kept; older ones are refused',
    isShared: true,
    parse: parseWhole('--sample-retention', 1, maxRetentionDays),
  },
  {
    flag: '--rollup-retention <days>',
    env: 'ROOMKEEPER_ROLLUP_RETENTION',
    default: retentionDefaults.rollupRetention,
    help: 'how long the 15-minute and hourly history is kept; not less than --sample-retention',
    isShared: true,
    parse: parseWhole('--rollup-retention', 1, maxRetentionDays),
  },
  {
    flag: '--daily-retention <days>',
    env: 'ROOMKEEPER_DAILY_RETENTION',
    default: retentionDefaults.dailyRetention,
    help: 'how long the daily history is kept: ever, or not less than --rollup-retention',
    isShared: true,
    parse: parseDaysOrEver('--daily-retention'),
  },
  {
    flag: '--room-freshness <minutes>',
    env: 'ROOMKEEPER_ROOM_FRESHNESS',
    default: retentionDefaults.roomFreshness,
    help: 'how long the latest sample of a device counts for its room',
    isShared: true,
    parse: parseWhole('--room-freshness', 1, 1440),
  },
  {
    flag: '--air-limits <limits>',
    env: 'ROOMKEEPER_AIR_LIMITS',
    help: `which air the console shows as an outlier (default: ${airLimitsText(defaultAirLimits)}); those not named keep theirs, off is no limit`,
    isShared: true,
    parse: parseAirLimits,
  },
  {
    flag: '--stop-delay <seconds>',
    env: 'ROOMKEEPER_STOP_DELAY',
    default: 5,
    help: 'with PostgreSQL: how long a server that stops serves on while /readyz is 503, so that a balancer notices',
    parse: parseWhole('--stop-delay', 0, 300),
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
    parse: parseWhole('--backup-every', 1, 8760),
  },
  {
    flag: '--backup-keep <number>',
    env: 'ROOMKEEPER_BACKUP_KEEP',
    default: backupDefaults.keepCount,
    help: 'how many backups are kept; older ones are deleted',
    parse: parseWhole('--backup-keep', 1, 10_000),
  },
  {
    flag: '--cors-origin <origin>',
    env: 'ROOMKEEPER_CORS_ORIGIN',
    help: 'let browsers of this origin call the API (repeatable)',
    parse: parseList(parseOrigin),
  },
  {
    flag: '--rate-limit <number>',
    env: 'ROOMKEEPER_RATE_LIMIT',
    default: 200,
    help: 'requests a second for each key; 0 switches the limit off',
    parse: parseWhole('--rate-limit', 0, 1_000_000),
  },
  {
    flag: '--rate-burst <number>',
    env: 'ROOMKEEPER_RATE_BURST',
    help: 'requests that a key may send at once (default: twice the rate limit)',
    parse: parseWhole('--rate-burst', 1, 10_000_000),
  },
  {
    flag: '--auth-failure-limit <number>',
    env: 'ROOMKEEPER_AUTH_FAILURE_LIMIT',
    default: 20,
    help: 'failed tokens a second for each address, with a burst of twenty times as many; 0 switches the limit off',
    parse: parseWhole('--auth-failure-limit', 0, 1_000_000),
  },
  {
    flag: '--log-level <level>',
    env: 'ROOMKEEPER_LOG_LEVEL',
    default: 'info',
    help: `one of ${levels.join(', ')}`,
    parse: parseOneOf('--log-level', levels),
  },
  {
    flag: '--log-requests <which>',
    env: 'ROOMKEEPER_LOG_REQUESTS',
    default: 'writes',
    help: 'which requests get a log line: writes or all',
    parse: parseOneOf('--log-requests', ['writes', 'all']),
  },
]
