// Phase 4 of a start: the HTTP server with all of its routes.

import { removePlaceFromChannels } from '../channels/places.ts'
import { channelRoutes } from '../channels/routes.ts'
import type { OperationHandlers } from '../context/handlers.ts'
import type { SignInAddresses } from '../core/relying-party.ts'
import { enrolPage } from '../devices/http/enrol-page.ts'
import { enrolRoute } from '../devices/http/enrol-route.ts'
import { gatewayDeviceRoutes } from '../devices/http/gateway-routes.ts'
import { logUploadRoutes } from '../devices/http/log-upload.ts'
import { connectAddresses, isDeviceUpgrade, openWebSocket } from '../devices/mqtt/listeners.ts'
import { bugReportRoutes } from '../fleet/bug-reports/routes.ts'
import { commandRoutes } from '../fleet/commands/routes.ts'
import { configRoutes } from '../fleet/configs/routes.ts'
import { connectionRoutes } from '../fleet/connections/routes.ts'
import { enrolDevice } from '../fleet/endpoints/enrol.ts'
import { endpointRoutes } from '../fleet/endpoints/routes.ts'
import { readDeviceList } from '../fleet/gateways/device-list.ts'
import { enrolItem } from '../fleet/gateways/enrol.ts'
import { gatewayRoutes } from '../fleet/gateways/routes.ts'
import { answerTest } from '../fleet/gateways/tests.ts'
import { locationRoutes } from '../fleet/locations/routes.ts'
import { noteRoutes } from '../fleet/notes/routes.ts'
import { profileRoutes } from '../fleet/profiles/routes.ts'
import { regionRoutes } from '../fleet/regions/routes.ts'
import { roomRoutes } from '../fleet/rooms/routes.ts'
import { storeFoundDevices, storeStructure } from '../fleet/sources/reports.ts'
import { sourceRoutes } from '../fleet/sources/routes.ts'
import { type ConsoleFiles, staticFileRoutes } from '../http/browser/static-files.ts'
import { openHealthPort } from '../http/health/port.ts'
import { listen } from '../http/listen.ts'
import { mcpRoute } from '../http/mcp/route.ts'
import { type HttpServer, makeHttpServer } from '../http/server.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import { serviceRoutes } from '../http/service-routes.ts'
import { incidentRuleRoutes } from '../incidents/incident-rules/routes.ts'
import { incidentRoutes } from '../incidents/routes.ts'
import { silenceRoutes } from '../incidents/silences/routes.ts'
import { recurringJobRoutes } from '../jobs/recurring/routes.ts'
import { jobRoutes } from '../jobs/routes.ts'
import { auditRoutes } from '../journal/audit/routes.ts'
import { eventRoutes } from '../journal/events/routes.ts'
import { KeyedRequests } from '../journal/idempotency/rules.ts'
import { orgRoutes } from '../journal/orgs/routes.ts'
import type { OutboundClient } from '../outbound/outbound-fetch.ts'
import { identityRoutes } from '../people/identity/routes.ts'
import { keyRoutes } from '../people/keys/routes.ts'
import { removeRegionFromKeys } from '../people/keys/rules.ts'
import { BrowserSessions } from '../people/sessions/browser-sessions.ts'
import { sessionRoutes, userLinkRoutes } from '../people/sessions/routes.ts'
import { providerRoutes } from '../people/sign-in/oidc/routes.ts'
import { signInRoutes } from '../people/sign-in/routes.ts'
import { userRoutes } from '../people/users/routes.ts'
import { removeRegionFromUsers } from '../people/users/rules.ts'
import { viewRoutes } from '../people/views/routes.ts'
import { reportRoutes } from '../reports/routes.ts'
import { sensorRoutes } from '../sensors/routes.ts'
import type { Core } from './core.ts'
import type { Devices } from './devices.ts'
import type { Resources } from './resources.ts'

interface HttpPhaseOptions {
  readonly certificate: ServerCertificate | undefined
  readonly consoleFiles: ConsoleFiles
  /** Is called before the ports are opened. */
  readonly releasePorts: () => Promise<void>
}

/** Resources of these kinds name regions and locations. A deleted place is removed from them, in this order. */
const placeReferences = [removeRegionFromUsers, removeRegionFromKeys, removePlaceFromChannels]

/** Every operation and the rule that carries it out. A missing one does not compile. */
const operationHandlers = (
  { bundles, latest, endpoints, reports }: Resources,
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
  ...viewRoutes,
  ...recurringJobRoutes,
  ...identityRoutes(addresses),
  ...connectionRoutes,
  ...incidentRoutes,
  ...incidentRuleRoutes,
  ...silenceRoutes,
  ...channelRoutes(outbound),
  ...jobRoutes,
  ...gatewayRoutes,
  ...sourceRoutes,
  ...reportRoutes(latest, reports),
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
  { certificate, consoleFiles, releasePorts }: HttpPhaseOptions,
): Promise<RunningHttp> {
  const { services, streams, keyring, log, metrics, options, publicAddress } = core
  const { limits } = services
  const keyedRequests = new KeyedRequests()
  const http = await makeHttpServer({
    services,
    handlers: operationHandlers(resources, signInAddresses(core), core.outbound),
    answerOnce: (...request) => keyedRequests.answer(...request),
    streams,
    keyring,
    clock: services.clock,
    log,
    metrics,
    certificate,
    limits,
    authFailures: { rate: options.authFailureLimit, burst: options.authFailureLimit * 20 },
    corsOrigins: options.corsOrigin ?? [],
    trustProxy: options.trustProxy ?? [],
    logReads: options.logRequests === 'all',
    isUpgrade: isDeviceUpgrade,
  })
  certificate?.watchExpiry(metrics.registry)
  addRoutes(http, core, resources, devices, consoleFiles)
  openWebSocket(devices.connections, http.app.server)
  await releasePorts()
  let closeTwin = () => {}
  const health = await openHealthPort(http.app, options, limits, log)
  // The health port closes after the server, so that health checks are answered while requests finish.
  stack.defer(async () => void (await health.close()))
  stack.defer(async () => {
    await streams.close()
    // With SQLite there is no other node for the devices to go to.
    const releaseMs = services.db.engine === 'postgres' ? limits.deviceReleaseMs : 0
    await Promise.all([http.drain(limits.requestDrainMs), devices.release(releaseMs)])
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
  consoleFiles: ConsoleFiles,
): void {
  const { services, keyring, log, metrics, options } = core
  const { db, clock, limits, publicUrl } = services
  mcpRoute(app, { services, log, identify, refuse, corsOrigins: options.corsOrigin ?? [] })
  serviceRoutes(app, { db, metrics, identify, publicUrl, isStopping: () => core.isStopping })
  const browser = new BrowserSessions({ services, keyring, cookie, refuse })
  sessionRoutes(app, { services, keyring, browser, refuse, countSignIn: metrics.signIn })
  const { providers } = core
  providerRoutes(app, { services, browser, refuse, metrics, log, providers, publicUrl: options.publicUrl })
  signInRoutes(app, { services, browser, refuse, countSignIn: metrics.signIn, addresses: signInAddresses(core) })
  staticFileRoutes(app, consoleFiles)
  enrolPage(app)
  const addresses = () => connectAddresses(publicUrl(), devices.listeners, options)
  enrolRoute(app, {
    clock,
    log,
    metrics: devices.metrics,
    enrol: (request, from) => enrolDevice(services, request, from),
    addresses,
  })
  gatewayDeviceRoutes(app, {
    log,
    identify: devices.handlers.identify,
    refuse,
    list: (gateway, pageToken) => readDeviceList(services, gateway, pageToken),
    enrol: (...enrolment) => enrolItem(services, ...enrolment),
    answerTest: (gateway, id, answer) => answerTest(services, gateway, id, answer),
    foundDevices: (...report) => storeFoundDevices(services, ...report),
    structure: (...report) => storeStructure(services, ...report),
    addresses,
  })
  logUploadRoutes(app, {
    clock,
    limits,
    identify: devices.handlers.identify,
    refuse,
    upload: (...upload) => uploads.upload(...upload),
  })
}
