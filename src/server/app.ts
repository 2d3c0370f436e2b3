// The service on one screen: what it is made of, and how it starts and stops.

import { join } from 'node:path'
import { resendAfterMs } from '../contract/device.ts'
import { Keyring } from './auth/keyring.ts'
import type { ServeOptions } from './config/options.ts'
import { sensorSettingsOf } from './config/sensor-settings.ts'
import { openServices } from './context/open-services.ts'
import type { Services } from './context/services.ts'
import { type Clock, systemClock } from './core/clock.ts'
import type { Log } from './core/log.ts'
import { makeMetrics } from './core/metrics.ts'
import { repeat } from './core/repeat.ts'
import { probeDisk } from './db/disk-probe.ts'
import { prepareDataFolder } from './db/open.ts'
import { takeServerLock } from './db/server-lock.ts'
import { enrolPage } from './devices/http/enrol-page.ts'
import { enrolRoute } from './devices/http/enrol-route.ts'
import { logUploadRoutes } from './devices/http/log-upload.ts'
import { DeviceConnections } from './devices/mqtt/device-connections.ts'
import type { DeviceHandlers } from './devices/mqtt/handlers.ts'
import { connectAddresses, isDeviceUpgrade, openMqttListeners, openWebSocket } from './devices/mqtt/listeners.ts'
import { makeDeviceMetrics } from './devices/mqtt/metrics.ts'
import { EventFeed } from './events/feed.ts'
import { type FirstStart, firstStart } from './first-start.ts'
import { EventStreams } from './http/event-streams.ts'
import type { OperationHandlers } from './http/handlers.ts'
import { listen, readTls } from './http/listen.ts'
import { makeHttpServer } from './http/server.ts'
import { serviceRoutes } from './http/service-routes.ts'
import { builtConsoleFolder, staticFileRoutes } from './http/static-files.ts'
import { auditRoutes } from './resources/audit/routes.ts'
import { deleteOldReports } from './resources/bug-reports/retention.ts'
import { type BugReportSettings, bugReportRoutes } from './resources/bug-reports/routes.ts'
import { logsCommand, uploadBundle, uploadUrl } from './resources/bug-reports/upload.ts'
import {
  deleteOldCommands,
  expireCommands,
  listUnacknowledged,
  storeCommandReport,
  takePendingCommands,
} from './resources/commands/progress.ts'
import { commandRoutes } from './resources/commands/routes.ts'
import { configReported, findPendingConfig, listUndelivered } from './resources/configs/reported.ts'
import { configRoutes } from './resources/configs/routes.ts'
import { EndpointCache } from './resources/endpoints/endpoint-cache.ts'
import { enrolDevice } from './resources/endpoints/enrol.ts'
import {
  findDeviceByCredential,
  markAllDisconnected,
  markConnected,
  markDisconnected,
  storeStatus,
} from './resources/endpoints/presence.ts'
import { endpointRoutes } from './resources/endpoints/routes.ts'
import { eventRoutes } from './resources/events/routes.ts'
import { startLastUsedWriter } from './resources/keys/last-used.ts'
import { keyRoutes } from './resources/keys/routes.ts'
import { findHolder, hasKey } from './resources/keys/store.ts'
import { locationRoutes } from './resources/locations/routes.ts'
import { noteRoutes } from './resources/notes/routes.ts'
import { listPlacesOf } from './resources/places/store.ts'
import { profileRoutes } from './resources/profiles/routes.ts'
import { regionRoutes } from './resources/regions/routes.ts'
import { roomRoutes } from './resources/rooms/routes.ts'
import { SampleIntake } from './resources/sensors/ingest/intake.ts'
import { LatestSamples } from './resources/sensors/latest/cache.ts'
import { Horizon } from './resources/sensors/rollups/horizon.ts'
import { RollupTask } from './resources/sensors/rollups/task.ts'
import { sensorRoutes } from './resources/sensors/routes.ts'
import { deleteOldSessions } from './resources/sessions/retention.ts'
import { sessionRoutes } from './resources/sessions/routes.ts'
import { findSessionHolder } from './resources/sessions/store.ts'
import { userRoutes } from './resources/users/routes.ts'

/** Every operation and who answers it. One that is missing does not compile. */
const handlersOf = (bundles: BugReportSettings, latest: LatestSamples, kept: EndpointCache): OperationHandlers => ({
  ...auditRoutes,
  ...endpointRoutes(kept),
  ...configRoutes,
  ...commandRoutes,
  ...bugReportRoutes(bundles),
  ...sensorRoutes(latest),
  ...eventRoutes,
  ...regionRoutes,
  ...locationRoutes,
  ...roomRoutes,
  ...noteRoutes,
  ...profileRoutes,
  ...userRoutes,
  ...keyRoutes,
})

const nothing = () => []

/** What devices say, and who listens; what waits for them, and who knows. */
const deviceHandlers = (services: Services, intake: SampleIntake): DeviceHandlers => ({
  identify: (endpointId, credential) => findDeviceByCredential(services, endpointId, credential),
  connected: (session) => markConnected(services, session),
  disconnected: (session) => markDisconnected(services, session),
  async waiting(session, listensTo) {
    const config = listensTo('config') ? await findPendingConfig(services, session.device) : undefined
    const addressOf = (id: string) => uploadUrl(services, session.device.org, id)
    const commands = listensTo('operation') ? await takePendingCommands(services, session, addressOf) : []
    return [
      ...(config ? [{ kind: 'config' as const, body: config }] : []),
      ...commands.map((body) => ({ kind: 'operation' as const, body })),
    ]
  },
  received: {
    status: (session, message) => storeStatus(services, session, message).then(nothing),
    async sample(session, message) {
      const body = await intake.receive(session, message)
      return body ? [{ kind: 'sample-refused', body }] : []
    },
    async config(session, message) {
      const body = await configReported(services, session, message)
      return body ? [{ kind: 'config', body }] : []
    },
    operation: (session, message) => storeCommandReport(services, session, message).then(nothing),
    async logs({ device }, { id }) {
      const body = await logsCommand(services, device, id)
      return body ? [{ kind: 'operation', body }] : []
    },
  },
})

const drainPatience = 20_000
const hour = 3_600_000

export interface Service {
  /** Where it can be reached from here. */
  readonly url: string
  readonly publicUrl: string
  readonly mqttPort: number | undefined
  /** Set when this start made the first organisation: the only time that its key can be shown. */
  readonly first: FirstStart | undefined
  /** Nobody can call it yet: organisations were made by hand, but no key. */
  readonly lacksKey: boolean
  readonly ground: Services
  close(): Promise<void>
}

export async function startService(
  options: ServeOptions,
  log: Log,
  {
    clock = systemClock,
    onLost = () => {},
    consoleFolder = builtConsoleFolder,
  }: { clock?: Clock; onLost?: () => void; consoleFolder?: string } = {},
): Promise<Service> {
  const tls = readTls(options)
  const settings = sensorSettingsOf(options)
  prepareDataFolder(options.dataDir)
  let forget = () => {}
  const unlock = await takeServerLock(options, {
    onLost,
    onBack: () => {
      // Somebody else may have held it, and written, meanwhile.
      forget()
      log.info('the database is back, and so is our lock')
    },
  })
  const closers: (() => Promise<unknown>)[] = [unlock]
  const closeAll = async () => {
    for (const close of closers.toReversed()) await close()
  }
  try {
    const metrics = makeMetrics()
    let url = ''
    const feed = new EventFeed((org, wanted) => listPlacesOf(services.db.forOrg(org), wanted), clock, log)
    const streams = new EventStreams(feed, clock)
    metrics.watchStreams(streams)
    const { ground: services, opened } = await openServices(options, {
      clock,
      isLocked: true,
      mustExist: false,
      keysChanged: () => {
        keyring.invalidate()
        void streams.recheckCallers()
      },
      devices: {
        isConnected: (id) => connections.isConnected(id),
        wake: (ids) => connections.wake(ids),
        cut: (ids, why) => connections.cut(ids, why),
      },
      feed,
      publicUrl: () => options.publicUrl ?? url,
      settings,
      onError: ({ message }) => log.error({ reason: message }, 'database connection lost'),
    })
    const { db, publicUrl } = services
    closers.push(() => db.close())
    db.metrics = metrics.db
    metrics.watchPools(opened.pools)
    closers.push(opened.watch())
    db.health.listen((isAnswering) => {
      // A commit that was given up in the outage may have been made after all.
      forget()
      if (isAnswering) log.info('the database answers again')
      else log.error('the database does not answer')
    })
    const rate = options.rateLimit
    const keyring: Keyring = new Keyring(
      (hash, kind) => (kind === 'key' ? findHolder(db.system, hash) : findSessionHolder(db.system, hash)),
      clock,
      { rate, burst: options.rateBurst ?? rate * 2 },
    )
    closers.push(startLastUsedWriter(db, keyring, log))

    const bundles = { folder: join(options.dataDir, 'bundles'), retentionDays: options.logRetention }
    const latest = new LatestSamples(db)
    const kept = new EndpointCache(db)
    forget = () => {
      latest.clear()
      kept.clear()
    }
    const horizon = await Horizon.load(db)
    const upkeep = new RollupTask(services, horizon)
    const intake = new SampleIntake(services, latest, horizon)
    metrics.watchCount('roomkeeper_samples_stored_total', 'Samples that were written.', () => intake.stored)
    metrics.watchCount('roomkeeper_samples_refused_total', 'Samples that were refused.', () => intake.refused)
    const devices = deviceHandlers(services, intake)
    const deviceMetrics = makeDeviceMetrics(metrics.registry)
    const connections: DeviceConnections = new DeviceConnections({
      handlers: devices,
      clock,
      log,
      metrics: deviceMetrics,
    })

    const http = await makeHttpServer({
      ground: services,
      handlers: handlersOf(bundles, latest, kept),
      streams,
      keyring,
      clock,
      log,
      metrics,
      tls,
      authFailures: { rate: options.authFailureLimit, burst: options.authFailureLimit * 20 },
      corsOrigins: options.corsOrigin ?? [],
      trustProxy: options.trustProxy ?? [],
      logReads: options.logRequests === 'all',
      isUpgrade: isDeviceUpgrade,
    })
    serviceRoutes(http.app, { db, metrics, identify: http.identify, publicUrl })
    sessionRoutes(http.app, { ground: services, keyring, cookie: http.cookie, refuse: http.refuse })
    staticFileRoutes(http.app, consoleFolder)
    enrolPage(http.app)
    enrolRoute(http.app, {
      clock,
      metrics: deviceMetrics,
      enrol: (request, from) => enrolDevice(services, request, from),
      addresses: () => connectAddresses(publicUrl(), listeners, options.mqttHost),
    })
    logUploadRoutes(http.app, {
      clock,
      identify: devices.identify,
      refuse: http.refuse,
      upload: (...upload) => uploadBundle(services, bundles.folder, ...upload),
    })

    await markAllDisconnected(services)
    await deleteOldReports(services, bundles.folder)
    connections.start()
    closers.push(() => http.close())
    closers.push(() => connections.close())
    openWebSocket(connections, http.app.server)
    const listeners = await openMqttListeners(connections, options, tls)
    closers.push(async () => listeners.close())
    closers.push(() => http.drain(drainPatience))
    closers.push(() => streams.close())
    url = await listen(http.app, options)
    closers.push(
      repeat(1000, 'looking after event streams', log, () => streams.check()),
      repeat(1000, 'trying whether the disk has space again', log, () => probeDisk(db)),
      repeat(500, 'expiring operations', log, () => expireCommands(services)),
      repeat(resendAfterMs / 2, 'telling devices again', log, async () => {
        connections.wake(await listUnacknowledged(services))
        connections.wake(await listUndelivered(services))
      }),
      repeat(10_000, 'rolling up and forgetting samples', log, (signal) => upkeep.run(signal)),
      repeat(hour, 'forgetting what is old', log, async () => {
        await deleteOldReports(services, bundles.folder)
        await deleteOldCommands(services)
        await deleteOldSessions(services)
        forget()
      }),
    )
    // Only now: a start that fails must not use up the one time that the first key is shown.
    const first = await firstStart(services)
    log.info({ url, engine: db.engine, migrated: opened.migrated }, 'ready')
    return {
      url,
      publicUrl: publicUrl(),
      mqttPort: listeners.mqttPort,
      first,
      lacksKey: !(await hasKey(db.system)),
      ground: services,
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
