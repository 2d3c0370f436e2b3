// The values of the server's options, as types. options.ts declares their flags, variables and defaults.
import type { AirLimits } from '../../contract/journal/orgs.ts'

export interface RetentionOptions {
  readonly sampleRetentionDays: number
  readonly rollupRetentionDays: number
  readonly dailyRetentionDays: number | 'ever'
  readonly incidentRetentionDays: number
  readonly roomFreshnessMinutes: number
  readonly idleMinutes: number
}

/** The options that all nodes of a database share. */
export interface SharedOptions extends RetentionOptions {
  readonly logRetentionDays: number
  readonly bundleQuotaGigabytes: number
  readonly settleMinutes: number
  /** The air limits of new organisations. */
  readonly airLimits: AirLimits
}

export interface DatabaseOptions {
  readonly dataDir: string
  readonly databaseUrl?: string
  readonly secretKeyFile?: string
  /** The file of --config, whose settings the other options have already. */
  readonly config?: string
  /** The key itself instead of a file. There is no flag for it, because other users may see command lines. */
  readonly secretKey?: string
}

/** A shared option is absent unless it was given. */
export interface ServeOptions extends DatabaseOptions, Partial<SharedOptions> {
  readonly port: number
  readonly host: string
  readonly healthPort: number | 'off'
  readonly healthHost: string
  readonly nodeName?: string
  readonly publicUrl?: string
  readonly publicMqttUrl?: readonly string[]
  readonly trustProxy?: readonly string[]
  readonly outboundAllow?: readonly string[]
  /** May contain a password. */
  readonly smtpUrl?: string
  readonly smtpFrom?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly mqttPort: number | 'off'
  readonly mqttHost: string
  readonly mqttTlsPort: number | 'off'
  readonly stopDelaySeconds?: number
  readonly backupDir?: string
  readonly backupEveryHours?: number
  readonly backupKeep?: number
  /** The room of a gateway beside this server. */
  readonly gateway?: { readonly org: string; readonly roomId: number }
  readonly gatewayReach?: readonly string[]
  readonly gatewayReachHost?: readonly string[]
  readonly corsOrigin?: readonly string[]
  readonly rateLimit: number
  readonly rateBurst?: number
  readonly authFailureLimit: number
  readonly logLevel: string
  readonly logRequests: string
}
