// Phase 1 of a start: the locks, the database, the row of this node, and the services that everything else uses.
import { minuteMs } from '../../contract/durations.ts'
import { Keyring } from '../auth/keyring.ts'
import { mailerOptionsOf } from '../config/mailer-options.ts'
import { outboundRulesOf } from '../config/outbound-rules.ts'
import { sensorSettingsOf } from '../config/sensor-settings.ts'
import type { ServeOptions } from '../config/server-options.ts'
import { refuseForgottenPostgres } from '../config/server-record.ts'
import { givenTexts, sharedValuesOf } from '../config/stored-options.ts'
import { CacheList } from '../context/cache-list.ts'
import { DeviceMailbox } from '../context/connected-devices.ts'
import { KeyChanges } from '../context/key-changes.ts'
import { secretKeyFileOf } from '../context/open-services.ts'
import { PublicAddress } from '../context/public-address.ts'
import type { Services } from '../context/services.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { type BuildLabels, type Metrics, makeMetrics } from '../core/metrics/metrics.ts'
import { programVersion } from '../core/program-files.ts'
import type { TimeLimits } from '../core/time-limits.ts'
import { loadDatabaseSecrets } from '../db/database-secrets.ts'
import { databaseVersion } from '../db/database-version.ts'
import { refuseForgottenSqlite } from '../db/forgotten-sqlite.ts'
import { hasDatabase, openDatabase, prepareDataFolder } from '../db/open.ts'
import { EventFeed } from '../events/feed.ts'
import { EventStreams } from '../http/event-streams.ts'
import { findHead } from '../journal/audit/store.ts'
import { listPlacesOf } from '../journal/places/store.ts'
import { SharedSettings } from '../journal/settings/stored-settings.ts'
import { ReconnectTimes } from '../nodes/reconnect-times.ts'
import { listNodeLives, listUpNodeIds } from '../nodes/store.ts'
import { StrictReads } from '../nodes/strict-reads/strict-reads.ts'
import type { ThisNode } from '../nodes/this-node.ts'
import { openMailer } from '../outbound/mailer.ts'
import { type OutboundClient, openOutbound } from '../outbound/outbound-fetch.ts'
import { writeLastUsed } from '../people/keys/last-used.ts'
import { tokenHolderFinder } from '../people/sign-in/find-token-holder.ts'
import { type LoadProviders, providerLoader } from '../people/sign-in/oidc/load-providers.ts'
import { SessionChecks } from '../people/sign-in/oidc/session-check.ts'
import { lockDatabase, nodeIdentity } from './node.ts'

interface CoreOptions {
  readonly options: ServeOptions
  readonly log: Log
  readonly clock: Clock
  readonly limits: TimeLimits
  /** Called when another program has taken the database, or the name of this node: this process must stop. */
  readonly onLost: () => void
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
  /** Sends the requests of channels. */
  readonly outbound: OutboundClient
  /** The identity providers of organisations. */
  readonly providers: LoadProviders
  readonly publicAddress: PublicAddress
  readonly build: BuildLabels
  /** The migrations that this start ran. */
  readonly migrated: readonly string[]
  /** True from the moment that the service was told to stop: it is not ready any more, but may serve on for a while. */
  isStopping: boolean
}

export async function openCore(stack: AsyncDisposableStack, coreOptions: CoreOptions): Promise<Core> {
  const { options, clock, limits } = coreOptions
  // Wrong settings are refused before anything is written to the data folder.
  const mail = mailerOptionsOf(options)
  refuseForgottenPostgres(options)
  if (!hasDatabase(options)) sensorSettingsOf(sharedValuesOf(givenTexts(options)))
  prepareDataFolder(options.dataDir)
  const caches = new CacheList()
  const publicAddress = new PublicAddress(options.publicUrl)
  const joined = await joinDatabase(stack, coreOptions)
  const { opened, sharedSettings, node, bus, log } = joined
  // A start that waits for space on the disk is tried every second, and each registry of metrics has timers.
  const metrics = makeMetrics()
  const { db } = opened
  const mailbox = new DeviceMailbox(bus)
  // Another program may have written while this node could not hear of it.
  bus.lost(() => caches.clear())
  // The devices of a node that ended are no longer connected, but the caches still show them as connected.
  bus.heard('nodeEnded', () => caches.clear())
  node.onReplaced(() => caches.clear())
  const { outbound, mailer, providers } = openOutside(stack, coreOptions, mail)
  const { feed, streams } = await openFeed(stack, joined, coreOptions)
  const reads = new StrictReads(db, bus)
  caches.add(reads)
  const reconnects = new ReconnectTimes(clock, () => sharedSettings.values.settleMinutes * minuteMs)
  const loadReconnects = async () => reconnects.load(await listNodeLives(db.system))
  await loadReconnects()
  node.onNewRow(
    () => void loadReconnects().catch(({ message: reason }) => log.warn({ reason }, 'rows of nodes not read')),
  )
  const keyChanges = new KeyChanges(bus)
  const services: Services = {
    db,
    node,
    bus,
    reads,
    clock,
    limits,
    secrets: await loadDatabaseSecrets(db, secretKeyFileOf(options), options.secretKey),
    keysChanged: () => keyChanges.announce(),
    devices: mailbox,
    feed,
    publicUrl: publicAddress.get,
    mailer,
    get settings() {
      return sharedSettings.sensors
    },
    reconnects,
  }
  const sessionChecks = new SessionChecks({ services, providers, log })
  stack.defer(() => sessionChecks.close())
  metrics.watchSessionChecks(sessionChecks.counts)
  const { rateLimit, rateBurst = rateLimit * 2 } = options
  const keyring = new Keyring(tokenHolderFinder(db, sessionChecks), clock, { rate: rateLimit, burst: rateBurst })
  keyChanges.listen(() => {
    keyring.invalidate()
    void streams.recheckCallers()
  })
  bus.heard('settingsChanged', () => {
    // Cached answers depend on settings: whether a device is reconnecting depends on --settle.
    const refreshed = sharedSettings.refresh(db).then(() => caches.clear())
    void refreshed.catch(() => {})
  })
  stack.defer(opened.watch())
  // The last uses are written when everything that could use a key has stopped.
  stack.defer(() => writeLastUsed(services, keyring, log))
  const build = await describeInMetrics(metrics, joined, streams)
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
    outbound,
    providers,
    publicAddress,
    build,
    migrated: opened.migrated,
    isStopping: false,
  }
}

type JoinedDatabase = Awaited<ReturnType<typeof joinDatabase>>

/** Locks and opens the database, and makes this process a node of it. */
async function joinDatabase(stack: AsyncDisposableStack, coreOptions: CoreOptions) {
  const { options, log: processLog, clock, limits, onLost } = coreOptions
  const identity = nodeIdentity(options)
  // The logs of several nodes may be collected in one place.
  const log = options.databaseUrl ? processLog.child({ nodeName: identity.name }) : processLog
  const lifecycle = await lockDatabase(stack, { ...identity, options, log, clock, limits, onLost })
  const opened = await openDatabase(options, {
    isLocked: true,
    mustExist: false,
    applicationName: lifecycle.sessionName,
    limits,
    onError: ({ message }) => log.error({ reason: message }, 'database connection lost'),
  })
  const { db } = opened
  stack.defer(() => db.close())
  await refuseForgottenSqlite(db, options)
  const sharedSettings = await SharedSettings.load(db, options)
  const entered = await lifecycle.enter(db)
  stack.defer(() => entered.leave())
  const { node, bus } = entered
  return { opened, sharedSettings, node, bus, log }
}

/** Opens the ways to other services: requests, mail, identity providers. */
function openOutside(
  stack: AsyncDisposableStack,
  { options, limits }: CoreOptions,
  mail: ReturnType<typeof mailerOptionsOf>,
) {
  const rules = outboundRulesOf(options)
  // A channel reaches loopback only if the operator names it; an identity provider may be tried there. [contract 10.outbound]
  const outbound = openOutbound({ ...rules, allowLoopback: false }, { limits })
  stack.defer(() => outbound.close())
  const toProviders = openOutbound(rules, { limits })
  stack.defer(() => toProviders.close())
  const mailer = mail && openMailer(mail, limits)
  stack.defer(() => mailer?.close())
  return { outbound, mailer, providers: providerLoader(toProviders.fetch) }
}

/** On SQLite only commands write beside this process, and they cannot send their events. */
const auditGapMs = { sqlite: 0, postgres: 1000 } as const

async function openFeed(
  stack: AsyncDisposableStack,
  { opened: { db }, node, bus, log }: JoinedDatabase,
  { clock, limits }: CoreOptions,
): Promise<{ readonly feed: EventFeed; readonly streams: EventStreams }> {
  const feed = new EventFeed({
    bus,
    locate: (org, wanted) => listPlacesOf(db.forOrg(org), wanted),
    clock,
    limits,
    log,
    nodeId: () => node.id,
    listNodes: async () => (await listUpNodeIds(db.system)).map(({ id }) => id),
    findAuditNumber: async (org) => (await findHead(db.forOrg(org)))?.count ?? 0,
    auditGapMs: auditGapMs[db.engine],
  })
  node.onNewRow(() => feed.rejoin())
  await feed.start()
  stack.defer(() => feed.close())
  return { feed, streams: new EventStreams(feed, clock, limits) }
}

async function describeInMetrics(
  metrics: Metrics,
  { opened: { db, pools }, node }: JoinedDatabase,
  streams: EventStreams,
): Promise<BuildLabels> {
  db.metrics = metrics.db
  const database = await databaseVersion(db)
  const build = { ...programVersion(), node: process.versions.node, database }
  metrics.describeBuild(build)
  metrics.describeNode(node)
  metrics.watchPools(pools)
  metrics.watchStreams(streams)
  return build
}
