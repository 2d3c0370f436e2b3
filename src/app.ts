// The service on one screen: what it is made of, and how it starts and stops.
import { join } from 'node:path'
import { silence } from './contract/device.ts'
import { type First, firstStart } from './first-start.ts'
import { enrolRoute } from './link/enrol.ts'
import { enrolPage } from './link/enrol-page.ts'
import type { DeviceHandlers } from './link/handlers.ts'
import { Link } from './link/link.ts'
import { connectAddresses, isDeviceUpgrade, openDoors, openWebSocket } from './link/listen.ts'
import { logsRoutes } from './link/logs.ts'
import { makeLinkMetrics } from './link/metrics.ts'
import { Keyring } from './platform/auth/keyring.ts'
import type { Ground } from './platform/by.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { lockServer } from './platform/db/lock.ts'
import { prepareFolder } from './platform/db/open.ts'
import { every } from './platform/every.ts'
import { openGround } from './platform/ground.ts'
import { builtConsole, consoleRoutes } from './platform/http/console-files.ts'
import { EventStreams } from './platform/http/event-streams.ts'
import type { Handlers } from './platform/http/handlers.ts'
import { listen, readTls } from './platform/http/listen.ts'
import { makeHttp } from './platform/http/server.ts'
import { serviceRoutes } from './platform/http/service-routes.ts'
import type { Log } from './platform/log.ts'
import { makeMetrics } from './platform/metrics.ts'
import type { ServeOptions } from './platform/options.ts'
import { settingsOf } from './platform/settings.ts'
import { auditRoutes } from './resources/audit/routes.ts'
import { deleteOldReports } from './resources/bug-reports/retention.ts'
import { type BugReportSettings, bugReportRoutes } from './resources/bug-reports/routes.ts'
import { logsCommand, uploadBundle, uploadUrl } from './resources/bug-reports/upload.ts'
import { configReported, undelivered, waitingConfig } from './resources/configs/reported.ts'
import { configRoutes } from './resources/configs/routes.ts'
import { enrol } from './resources/endpoints/enrol.ts'
import { KeptEndpoints } from './resources/endpoints/kept.ts'
import {
  deviceConnected,
  deviceDisconnected,
  identify,
  nobodyConnected,
  statusReported,
} from './resources/endpoints/presence.ts'
import { endpointRoutes } from './resources/endpoints/routes.ts'
import { eventRoutes } from './resources/events/routes.ts'
import { listLocated } from './resources/events/store.ts'
import { writeLastUsed } from './resources/keys/last-used.ts'
import { keyRoutes } from './resources/keys/routes.ts'
import { findHolder, hasKey } from './resources/keys/store.ts'
import { locationRoutes } from './resources/locations/routes.ts'
import { noteRoutes } from './resources/notes/routes.ts'
import {
  expireOperations,
  forgetOperations,
  operationReported,
  unacknowledged,
  waitingOperations,
} from './resources/operations/progress.ts'
import { operationRoutes } from './resources/operations/routes.ts'
import { profileRoutes } from './resources/profiles/routes.ts'
import { regionRoutes } from './resources/regions/routes.ts'
import { roomRoutes } from './resources/rooms/routes.ts'
import { Horizon } from './resources/sensors/horizon.ts'
import { Intake } from './resources/sensors/intake.ts'
import { Latest } from './resources/sensors/latest.ts'
import { sensorRoutes } from './resources/sensors/routes.ts'
import { Upkeep } from './resources/sensors/upkeep.ts'
import { forgetSessions } from './resources/sessions/retention.ts'
import { sessionRoutes } from './resources/sessions/routes.ts'
import { findSessionHolder } from './resources/sessions/store.ts'
import { userRoutes } from './resources/users/routes.ts'

/** Every operation and who answers it. One that is missing does not compile. */
const handlersOf = (bundles: BugReportSettings, latest: Latest, kept: KeptEndpoints): Handlers => ({
  ...auditRoutes,
  ...endpointRoutes(kept),
  ...configRoutes,
  ...operationRoutes,
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
const deviceHandlers = (ground: Ground, intake: Intake): DeviceHandlers => ({
  identify: (endpointId, credential) => identify(ground, endpointId, credential),
  connected: (session) => deviceConnected(ground, session),
  disconnected: (session) => deviceDisconnected(ground, session),
  async waiting(session, listensTo) {
    const config = listensTo('config') ? await waitingConfig(ground, session.device) : undefined
    const addressOf = (id: string) => uploadUrl(ground, session.device.org, id)
    const commands = listensTo('operation') ? await waitingOperations(ground, session, addressOf) : []
    return [
      ...(config ? [{ kind: 'config' as const, body: config }] : []),
      ...commands.map((body) => ({ kind: 'operation' as const, body })),
    ]
  },
  received: {
    status: (session, message) => statusReported(ground, session, message).then(nothing),
    async sample(session, message) {
      const body = await intake.receive(session, message)
      return body ? [{ kind: 'sample-refused', body }] : []
    },
    async config(session, message) {
      const body = await configReported(ground, session, message)
      return body ? [{ kind: 'config', body }] : []
    },
    operation: (session, message) => operationReported(ground, session, message).then(nothing),
    async logs({ device }, { id }) {
      const body = await logsCommand(ground, device, id)
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
  readonly first: First | undefined
  /** Nobody can call it yet: organisations were made by hand, but no key. */
  readonly lacksKey: boolean
  readonly ground: Ground
  close(): Promise<void>
}

export async function startService(
  options: ServeOptions,
  log: Log,
  {
    clock = systemClock,
    onLost = () => {},
    consoleFolder = builtConsole,
  }: { clock?: Clock; onLost?: () => void; consoleFolder?: string } = {},
): Promise<Service> {
  const tls = readTls(options)
  const settings = settingsOf(options)
  prepareFolder(options.dataDir)
  let forget = () => {}
  const unlock = await lockServer(options, {
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
    const streams = new EventStreams((org, wanted) => listLocated(ground.db, org, wanted), clock, log)
    metrics.watchStreams(streams)
    const { ground, opened } = await openGround(options, {
      clock,
      isLocked: true,
      mustExist: false,
      keysChanged: () => {
        keyring.forget()
        void streams.askAgain()
      },
      devices: {
        isConnected: (id) => link.isConnected(id),
        wake: (ids) => link.wake(ids),
        cut: (ids, why) => link.cut(ids, why),
      },
      feed: streams.feed,
      publicUrl: () => options.publicUrl ?? url,
      settings,
      onError: ({ message }) => log.error({ reason: message }, 'database connection lost'),
    })
    const { db, publicUrl } = ground
    closers.push(() => db.close())
    db.metrics = metrics.db
    metrics.watchPools(opened.pools)
    const rate = options.rateLimit
    const keyring: Keyring = new Keyring(
      (hash, kind) => (kind === 'key' ? findHolder(db, hash) : findSessionHolder(db, hash)),
      clock,
      { rate, burst: options.rateBurst ?? rate * 2 },
    )
    closers.push(writeLastUsed(db, keyring, log))

    const bundles = { folder: join(options.dataDir, 'bundles'), retentionDays: options.logRetention }
    const latest = new Latest(db)
    const kept = new KeptEndpoints(db)
    forget = () => {
      latest.forget()
      kept.forget()
    }
    const horizon = await Horizon.load(db)
    const upkeep = new Upkeep(ground, horizon)
    const intake = new Intake(ground, latest, horizon)
    metrics.watchCount('roomkeeper_samples_stored_total', 'Samples that were written.', () => intake.stored)
    metrics.watchCount('roomkeeper_samples_refused_total', 'Samples that were refused.', () => intake.refused)
    const devices = deviceHandlers(ground, intake)
    const linkMetrics = makeLinkMetrics(metrics.registry)
    const link: Link = new Link({ handlers: devices, clock, log, metrics: linkMetrics })

    const http = await makeHttp({
      ground,
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
    sessionRoutes(http.app, { ground, keyring, cookie: http.cookie, refuse: http.refuse })
    consoleRoutes(http.app, consoleFolder)
    enrolPage(http.app)
    enrolRoute(http.app, {
      clock,
      metrics: linkMetrics,
      enrol: (request, from) => enrol(ground, request, from),
      addresses: () => connectAddresses(publicUrl(), doors, options.mqttHost),
    })
    logsRoutes(http.app, {
      clock,
      identify: devices.identify,
      refuse: http.refuse,
      upload: (...upload) => uploadBundle(ground, bundles.folder, ...upload),
    })

    await nobodyConnected(ground)
    await deleteOldReports(ground, bundles.folder)
    link.listen()
    closers.push(() => http.close())
    closers.push(() => link.close())
    openWebSocket(link, http.app.server)
    const doors = await openDoors(link, options, tls)
    closers.push(async () => doors.close())
    closers.push(() => http.drain(drainPatience))
    closers.push(() => streams.close())
    url = await listen(http.app, options)
    closers.push(
      every(1000, 'looking after event streams', log, () => streams.check()),
      every(1000, 'looking after unread answers', log, () => http.checkUnsent()),
      every(500, 'expiring operations', log, () => expireOperations(ground)),
      every(silence / 2, 'telling devices again', log, async () => {
        link.wake(await unacknowledged(ground))
        link.wake(await undelivered(ground))
      }),
      every(10_000, 'rolling up and forgetting samples', log, (signal) => upkeep.run(signal)),
      every(hour, 'forgetting what is old', log, async () => {
        await deleteOldReports(ground, bundles.folder)
        await forgetOperations(ground)
        await forgetSessions(ground)
        forget()
      }),
    )
    // Only now: a start that fails must not use up the one time that the first key is shown.
    const first = await firstStart(ground)
    log.info({ url, engine: db.engine, migrated: opened.migrated }, 'ready')
    return {
      url,
      publicUrl: publicUrl(),
      mqttPort: doors.mqttPort,
      first,
      lacksKey: !(await hasKey(db)),
      ground,
      close: closeAll,
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
