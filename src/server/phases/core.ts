// Phase 1 of a start: the locks, the database, the row of this node, and the services that everything else uses.
import { Keyring } from '../auth/keyring.ts'
import type { TokenKind } from '../auth/token.ts'
import { outboundRulesOf } from '../config/outbound-rules.ts'
import { sensorSettingsOf } from '../config/sensor-settings.ts'
import type { ServeOptions } from '../config/server-options.ts'
import { givenTexts, sharedValuesOf } from '../config/stored-options.ts'
import { DeviceMailbox } from '../context/connected-devices.ts'
import { secretKeyFileOf } from '../context/open-services.ts'
import type { Services } from '../context/services.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type BuildLabels, type Metrics, makeMetrics } from '../core/metrics.ts'
import { programVersion } from '../core/program-version.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import { databaseVersion } from '../db/database-version.ts'
import type { Database } from '../db/db.ts'
import { refuseForgottenSqlite } from '../db/forgotten-sqlite.ts'
import { hasDatabase, openDatabase, prepareDataFolder } from '../db/open.ts'
import { EventFeed } from '../events/feed.ts'
import { EventStreams } from '../http/event-streams.ts'
import { listUp } from '../nodes/store.ts'
import { StrictReads } from '../nodes/strict-reads/strict-reads.ts'
import type { ThisNode } from '../nodes/this-node.ts'
import { openOutbound } from '../outbound/outbound-fetch.ts'
import { findHead } from '../resources/audit/store.ts'
import { writeLastUsed } from '../resources/keys/last-used.ts'
import { findHolder } from '../resources/keys/store.ts'
import { listPlacesOf } from '../resources/places/store.ts'
import { findSessionHolder } from '../resources/sessions/store.ts'
import { findUserSessionHolder } from '../resources/sessions/user-session-store.ts'
import { SharedSettings } from '../resources/settings/stored-settings.ts'
import { ProviderClient } from '../resources/sign-in/oidc/provider-client.ts'
import { SessionChecks } from '../resources/sign-in/oidc/session-check.ts'
import { lockDatabase, nodeIdentity } from './node.ts'

export interface CoreOptions {
  readonly options: ServeOptions
  readonly log: Log
  readonly clock: Clock
  /** Called when another program has taken the database, or the name of this node: this process must stop. */
  readonly onLost: () => void
}

/** Caches register here, so that all of them can be cleared together. */
export class CacheList {
  readonly #caches: { clear(): void }[] = []

  add(...caches: { clear(): void }[]): void {
    this.#caches.push(...caches)
  }

  clear(): void {
    for (const cache of this.#caches) cache.clear()
  }
}

/** The address under which others reach the service. It is known when the HTTP server listens, unless an option names it. */
export class PublicAddress {
  #url: string

  constructor(url = '') {
    this.#url = url
  }

  /** Has no effect if an option named the address. */
  setDefault(url: string): void {
    this.#url ||= url
  }

  readonly get = (): string => this.#url
}

export interface Core {
  readonly options: ServeOptions
  readonly log: Log
  readonly services: Services
  readonly node: ThisNode
  readonly sharedSettings: SharedSettings
  readonly metrics: Metrics
  readonly keyring: Keyring
  readonly streams: EventStreams
  readonly mailbox: DeviceMailbox
  readonly caches: CacheList
  /** The identity providers of organisations. */
  readonly providers: ProviderClient
  readonly publicAddress: PublicAddress
  readonly build: BuildLabels
  /** The migrations that this start ran. */
  readonly migrated: readonly string[]
  /** True from the moment that the service was told to stop: it is not ready any more, but may serve on for a while. */
  isStopping: boolean
}

/** On SQLite only commands write beside this process, and they cannot send their events. */
const auditGapMs = { sqlite: 0, postgres: 1000 } as const

export async function openCore(
  stack: AsyncDisposableStack,
  { options, log: processLog, clock, onLost }: CoreOptions,
): Promise<Core> {
  // Wrong settings are refused before anything is written to the data folder.
  if (!hasDatabase(options)) sensorSettingsOf(sharedValuesOf(givenTexts(options)))
  prepareDataFolder(options.dataDir)
  const metrics = makeMetrics()
  const caches = new CacheList()
  const publicAddress = new PublicAddress(options.publicUrl)
  const identity = nodeIdentity(options)
  // The logs of several nodes may be collected in one place.
  const log = options.databaseUrl ? processLog.child({ nodeName: identity.name }) : processLog
  const place = await lockDatabase(stack, { ...identity, options, log, clock, onLost })
  const opened = await openDatabase(options, {
    isLocked: true,
    mustExist: false,
    applicationName: place.sessionName,
    onError: ({ message }) => log.error({ reason: message }, 'database connection lost'),
  })
  const { db } = opened
  stack.defer(() => db.close())
  await refuseForgottenSqlite(db, options)
  const sharedSettings = await SharedSettings.load(db, options)
  const { node, bus } = await place.enter(db)
  stack.defer(() => place.leave())
  const mailbox = new DeviceMailbox(bus)
  // Another program may have written while this node could not hear of it.
  bus.lost(() => caches.clear())
  // Its devices are not connected any more.
  bus.heard('nodeEnded', () => caches.clear())
  node.onReplaced(() => caches.clear())
  const outbound = openOutbound(outboundRulesOf(options))
  stack.defer(() => outbound.close())
  const providers = new ProviderClient(outbound.fetch)
  const sessionChecks: { current?: SessionChecks } = {}
  const keyring = makeKeyring(db, options, clock, sessionChecks)
  const feed = new EventFeed({
    bus,
    locate: (org, wanted) => listPlacesOf(db.forOrg(org), wanted),
    clock,
    log,
    nodeId: () => node.id,
    listNodes: async () => (await listUp(db.system)).map(({ id }) => id),
    findAuditNumber: async (org) => (await findHead(db.forOrg(org)))?.count ?? 0,
    auditGapMs: auditGapMs[db.engine],
  })
  node.onNewRow(() => feed.rejoin())
  await feed.start()
  stack.defer(() => feed.close())
  const streams = new EventStreams(feed, clock)
  const reads = new StrictReads(db, bus)
  caches.add(reads)
  const dropCallers = () => {
    keyring.invalidate()
    void streams.recheckCallers()
  }
  bus.heard('keysChanged', (_, { isSelf }) => {
    if (!isSelf) dropCallers()
  })
  const services: Services = {
    db,
    node,
    bus,
    reads,
    clock,
    secrets: await loadDatabaseSecrets(db, secretKeyFileOf(options), options.secretKey),
    keysChanged: () => {
      dropCallers()
      bus.send('keysChanged', {})
    },
    devices: mailbox,
    feed,
    publicUrl: publicAddress.get,
    get settings() {
      return sharedSettings.sensors
    },
  }
  const checks = new SessionChecks({ services, providers, log })
  sessionChecks.current = checks
  stack.defer(() => checks.close())
  metrics.watchSessionChecks(checks.counts)
  services.bus.heard('settingsChanged', () => void sharedSettings.refresh(db).catch(() => {}))
  stack.defer(opened.watch())
  // The last uses are written when everything that could use a key has stopped.
  stack.defer(() => writeLastUsed(services, keyring, log))
  db.metrics = metrics.db
  const build = { version: programVersion(), node: process.versions.node, database: await databaseVersion(db) }
  metrics.describeBuild(build)
  metrics.describeNode(node)
  metrics.watchPools(opened.pools)
  metrics.watchStreams(streams)
  db.health.listen((isAnswering) => {
    // A commit that was given up during the outage may have been made after all.
    caches.clear()
    if (isAnswering) log.info('database answers again')
    else log.error('database does not answer')
  })
  return {
    options,
    log,
    services,
    node,
    sharedSettings,
    metrics,
    keyring,
    streams,
    mailbox,
    caches,
    providers,
    publicAddress,
    build,
    migrated: opened.migrated,
    isStopping: false,
  }
}

const findTokenHolder = { key: findHolder, session: findSessionHolder, userSession: findUserSessionHolder } as const

/** The checks of sessions need the services, which need the keyring: they are set when both exist. */
function makeKeyring(
  db: Database,
  { rateLimit, rateBurst }: ServeOptions,
  clock: Clock,
  checks: { readonly current?: SessionChecks },
): Keyring {
  const lookUp = async (hash: Buffer, kind: TokenKind) => {
    const holder = await findTokenHolder[kind](db.system, hash)
    return holder && checks.current ? checks.current.admit(holder) : holder
  }
  return new Keyring(lookUp, clock, { rate: rateLimit, burst: rateBurst ?? rateLimit * 2 })
}
