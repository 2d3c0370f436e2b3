// Phase 4 of a start: the HTTP server with all of its routes.

import type { OperationHandlers } from '../context/handlers.ts'
import type { SignInAddresses } from '../core/relying-party.ts'
import { enrolPage } from '../devices/http/enrol-page.ts'
import { enrolRoute } from '../devices/http/enrol-route.ts'
import { logUploadRoutes } from '../devices/http/log-upload.ts'
import { connectAddresses, isDeviceUpgrade, openWebSocket } from '../devices/mqtt/listeners.ts'
import { staticFileRoutes } from '../http/browser/static-files.ts'
import { openHealthPort } from '../http/health/port.ts'
import { listen } from '../http/listen.ts'
import { type HttpServer, makeHttpServer } from '../http/server.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import { serviceRoutes } from '../http/service-routes.ts'
import type { OutboundClient } from '../outbound/outbound-fetch.ts'
import { auditRoutes } from '../resources/audit/routes.ts'
import { bugReportRoutes } from '../resources/bug-reports/routes.ts'
import { removePlaceFromChannels } from '../resources/channels/places.ts'
import { channelRoutes } from '../resources/channels/routes.ts'
import { commandRoutes } from '../resources/commands/routes.ts'
import { configRoutes } from '../resources/configs/routes.ts'
import { connectionRoutes } from '../resources/connections/routes.ts'
import { enrolDevice } from '../resources/endpoints/enrol.ts'
import { endpointRoutes } from '../resources/endpoints/routes.ts'
import { eventRoutes } from '../resources/events/routes.ts'
import { identityRoutes } from '../resources/identity/routes.ts'
import { incidentRuleRoutes } from '../resources/incident-rules/routes.ts'
import { incidentRoutes } from '../resources/incidents/routes.ts'
import { jobRoutes } from '../resources/jobs/routes.ts'
import { keyRoutes } from '../resources/keys/routes.ts'
import { removeRegionFromKeys } from '../resources/keys/rules.ts'
import { locationRoutes } from '../resources/locations/routes.ts'
import { noteRoutes } from '../resources/notes/routes.ts'
import { orgRoutes } from '../resources/orgs/routes.ts'
import { profileRoutes } from '../resources/profiles/routes.ts'
import { regionRoutes } from '../resources/regions/routes.ts'
import { roomRoutes } from '../resources/rooms/routes.ts'
import { sensorRoutes } from '../resources/sensors/routes.ts'
import { BrowserSessions } from '../resources/sessions/browser-sessions.ts'
import { sessionRoutes, userLinkRoutes } from '../resources/sessions/routes.ts'
import { providerRoutes } from '../resources/sign-in/oidc/routes.ts'
import { signInRoutes } from '../resources/sign-in/routes.ts'
import { silenceRoutes } from '../resources/silences/routes.ts'
import { userRoutes } from '../resources/users/routes.ts'
import { removeRegionFromUsers } from '../resources/users/rules.ts'
import type { Core } from './core.ts'
import type { Devices } from './devices.ts'
import type { Resources } from './resources.ts'

/** Requests that run when the service stops have this long to finish. */
const drainTimeoutMs = 20_000

interface HttpPhaseOptions {
  readonly certificate: ServerCertificate | undefined
  readonly consoleFolder: string
  /** When the service stops, its devices are disconnected over up to this time. */
  readonly releaseDevicesMs: number
  /** Is called before the ports are opened. */
  readonly releasePorts: () => Promise<void>
}

/** Resources of these kinds name regions and locations. A deleted place is removed from them, in this order. */
const placeReferences = [removeRegionFromUsers, removeRegionFromKeys, removePlaceFromChannels]

/** Every operation and the rule that carries it out. A missing one does not compile. */
const operationHandlers = (
  { bundles, latest, endpoints }: Resources,
  addresses: SignInAddresses,
  outbound: OutboundClient,
): OperationHandlers => ({
  ...auditRoutes,
  ...endpointRoutes(endpoints),
  ...configRoutes,
  ...commandRoutes,
  ...bugReportRoutes(bundles),
  ...sensorRoutes(latest),
  ...eventRoutes,
  ...regionRoutes(placeReferences),
  ...locationRoutes(placeReferences),
  ...roomRoutes,
  ...noteRoutes,
  ...orgRoutes,
  ...profileRoutes,
  ...userRoutes,
  ...keyRoutes,
  ...userLinkRoutes,
  ...identityRoutes(addresses),
  ...connectionRoutes,
  ...incidentRoutes,
  ...incidentRuleRoutes,
  ...silenceRoutes,
  ...channelRoutes(outbound),
  ...jobRoutes,
})

interface RunningHttp {
  /** The address under which this machine reaches the server. */
  readonly url: string
  readonly healthPort: number | undefined
}

export async function startHttp(
  stack: AsyncDisposableStack,
  core: Core,
  resources: Resources,
  devices: Devices,
  { certificate, consoleFolder, releaseDevicesMs, releasePorts }: HttpPhaseOptions,
): Promise<RunningHttp> {
  const { services, streams, keyring, log, metrics, options, publicAddress } = core
  const http = await makeHttpServer({
    services,
    handlers: operationHandlers(resources, signInAddresses(core), core.outbound),
    streams,
    keyring,
    clock: services.clock,
    log,
    metrics,
    certificate,
    authFailures: { rate: options.authFailureLimit, burst: options.authFailureLimit * 20 },
    corsOrigins: options.corsOrigin ?? [],
    trustProxy: options.trustProxy ?? [],
    logReads: options.logRequests === 'all',
    isUpgrade: isDeviceUpgrade,
  })
  certificate?.watchExpiry(metrics.registry)
  addRoutes(http, core, resources, devices, consoleFolder)
  openWebSocket(devices.connections, http.app.server)
  await releasePorts()
  let closeTwin = () => {}
  const health = await openHealthPort(http.app, options, log)
  // The health port closes after the server, so that health checks are answered while requests finish.
  stack.defer(async () => void (await health.close()))
  stack.defer(async () => {
    await streams.close()
    await Promise.all([http.drain(drainTimeoutMs), devices.release(releaseDevicesMs)])
    closeTwin()
    // Connections that became WebSockets end with the devices; the server waits for them.
    await devices.close()
    await http.close()
  })
  const listening = await listen(http.app, options)
  closeTwin = listening.closeTwin
  publicAddress.assume(listening.publicUrl)
  return { url: listening.url, healthPort: health.port }
}

const signInAddresses = ({ options: { publicUrl }, publicAddress }: Core): SignInAddresses => ({
  publicUrl,
  passkeyUrl: publicAddress.ofPasskeys,
})

function addRoutes(
  { app, identify, cookie, refuse }: HttpServer,
  core: Core,
  { uploads }: Resources,
  devices: Devices,
  consoleFolder: string,
): void {
  const { services, keyring, log, metrics, options } = core
  const { db, clock, publicUrl } = services
  serviceRoutes(app, { db, metrics, identify, publicUrl, isStopping: () => core.isStopping })
  const browser = new BrowserSessions({ services, keyring, cookie, refuse })
  sessionRoutes(app, { services, keyring, browser, refuse, countSignIn: metrics.signIn })
  const { providers } = core
  providerRoutes(app, { services, browser, refuse, metrics, log, providers, publicUrl: options.publicUrl })
  signInRoutes(app, { services, browser, refuse, countSignIn: metrics.signIn, addresses: signInAddresses(core) })
  staticFileRoutes(app, consoleFolder)
  enrolPage(app)
  enrolRoute(app, {
    clock,
    log,
    metrics: devices.metrics,
    enrol: (request, from) => enrolDevice(services, request, from),
    addresses: () => connectAddresses(publicUrl(), devices.listeners, options),
  })
  logUploadRoutes(app, {
    clock,
    identify: devices.handlers.identify,
    refuse,
    upload: (...upload) => uploads.upload(...upload),
  })
}
