// The service on one screen: what it is made of, and how it starts and stops.
import { join } from 'node:path'
import { Keyring } from './platform/auth/keyring.ts'
import type { Actor, Ground } from './platform/by.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { lockServer } from './platform/db/lock.ts'
import { type Opened, type OpenSettings, openDb, prepareFolder } from './platform/db/open.ts'
import { secretsOf } from './platform/db/secrets-of.ts'
import type { Handlers } from './platform/http/handlers.ts'
import { listen, readTls } from './platform/http/listen.ts'
import { makeHttp } from './platform/http/server.ts'
import { serviceRoutes } from './platform/http/service-routes.ts'
import type { Log } from './platform/log.ts'
import { makeMetrics } from './platform/metrics.ts'
import type { PlaceOptions, ServeOptions } from './platform/options.ts'
import { auditRoutes } from './resources/audit/routes.ts'
import { listAfter } from './resources/audit/store.ts'
import { writeLastUsed } from './resources/keys/last-used.ts'
import { keyRoutes } from './resources/keys/routes.ts'
import { keysCreate } from './resources/keys/rules.ts'
import { findHolder, hasKey } from './resources/keys/store.ts'
import { locationRoutes } from './resources/locations/routes.ts'
import { noteRoutes } from './resources/notes/routes.ts'
import { administrator, orgCreate } from './resources/orgs/rules.ts'
import { listOrgs } from './resources/orgs/store.ts'
import { profileRoutes } from './resources/profiles/routes.ts'
import { regionRoutes } from './resources/regions/routes.ts'
import { roomRoutes } from './resources/rooms/routes.ts'
import { userRoutes } from './resources/users/routes.ts'

/** Every operation and who answers it. One that is missing does not compile. */
const handlers: Handlers = {
  ...auditRoutes,
  ...regionRoutes,
  ...locationRoutes,
  ...roomRoutes,
  ...noteRoutes,
  ...profileRoutes,
  ...userRoutes,
  ...keyRoutes,
}

const drainPatience = 20_000

export interface Service {
  /** Where it can be reached from here. */
  readonly url: string
  readonly publicUrl: string
  /** Set when this start made the first organisation: the only time that its key can be shown. */
  readonly first: { readonly org: string; readonly key: string } | undefined
  /** Nobody can call it yet: organisations were made by hand, but no key. */
  readonly lacksKey: boolean
  readonly ground: Ground
  close(): Promise<void>
}

export async function startService(
  options: ServeOptions,
  log: Log,
  { clock = systemClock, onLost = () => {} }: { clock?: Clock; onLost?: () => void } = {},
): Promise<Service> {
  const tls = readTls(options)
  prepareFolder(options.dataDir)
  const unlock = await lockServer(options, {
    onLost,
    onBack: () => log.info('the database is back, and so is our lock'),
  })
  const closers: (() => Promise<unknown>)[] = [unlock]
  const closeAll = async () => {
    for (const close of closers.toReversed()) await close()
  }
  try {
    const metrics = makeMetrics()
    const { ground, opened } = await openGround(options, {
      clock,
      isLocked: true,
      mustExist: false,
      keysChanged: () => keyring.forget(),
      onError: ({ message }) => log.error({ reason: message }, 'database connection lost'),
    })
    const { db } = ground
    closers.push(() => db.close())
    db.metrics = metrics.db
    metrics.watchPools(opened.pools)
    const rate = options.rateLimit
    const keyring: Keyring = new Keyring((hash) => findHolder(db, hash), clock, {
      rate,
      burst: options.rateBurst ?? rate * 2,
    })
    closers.push(writeLastUsed(db, keyring, log))

    const http = await makeHttp({
      ground,
      handlers,
      keyring,
      clock,
      log,
      metrics,
      tls,
      authFailures: { rate: options.authFailureLimit, burst: options.authFailureLimit * 20 },
      corsOrigins: options.corsOrigin ?? [],
      trustProxy: options.trustProxy ?? [],
      logReads: options.logRequests === 'all',
    })
    closers.push(() => http.drain(drainPatience))
    let url = ''
    const publicUrl = () => options.publicUrl ?? url
    serviceRoutes(http.app, { db, metrics, identify: http.identify, publicUrl })
    url = await listen(http.app, options)
    // Only now: a start that fails must not use up the one time that the first key is shown.
    const first = await firstStart(ground)
    log.info({ url, engine: db.engine, migrated: opened.migrated }, 'ready')
    return { url, publicUrl: publicUrl(), first, lacksKey: !(await hasKey(db)), ground, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

type GroundSettings = OpenSettings & Pick<Ground, 'clock' | 'keysChanged'>

/** Database and secrets, for the server and for commands that work beside it. */
export async function openGround(
  options: PlaceOptions,
  settings: GroundSettings,
): Promise<{ ground: Ground; opened: Opened }> {
  const { clock, keysChanged } = settings
  const opened = await openDb(options, settings)
  try {
    const secrets = await secretsOf(opened.db, options.secretKeyFile ?? join(options.dataDir, 'secret.key'))
    return { ground: { db: opened.db, secrets, clock, keysChanged }, opened }
  } catch (error) {
    await opened.db.close()
    throw error
  }
}

/** An empty database gets an organisation and a key that may do everything in it. */
async function firstStart(ground: Ground): Promise<Service['first']> {
  const actor: Actor = { type: 'SYSTEM', id: 'first-start', name: 'First start' }
  const [existing] = await listOrgs(ground.db)
  if (existing) {
    // Unless a first start was interrupted before it made the key, nothing is left to do.
    const [entry] = await listAfter(ground.db, existing.key, 0, 1)
    if (entry?.actor_id !== actor.id || (await hasKey(ground.db))) return undefined
  }
  const org = existing ?? (await orgCreate(ground, actor, 'My organisation'))
  const by = await administrator(ground, actor, org.id)
  const { body } = await keysCreate(by, { name: 'First key', scopes: ['read', 'write'], manage: true })
  return { org: org.id, key: body.key }
}
