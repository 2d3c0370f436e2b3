// Phase 3 of a start: MQTT. Connects the messages of devices with the resources that store them.

import type { Services } from '../context/services.ts'
import { DeviceConnections } from '../devices/mqtt/device-connections.ts'
import type { DeviceHandlers } from '../devices/mqtt/handlers.ts'
import { CredentialAttempts } from '../devices/mqtt/limits/credential-attempts.ts'
import { type MqttListeners, openMqttListeners } from '../devices/mqtt/listeners.ts'
import { type DeviceMetrics, makeDeviceMetrics } from '../devices/mqtt/metrics.ts'
import { renewLogsCommand } from '../fleet/bug-reports/upload.ts'
import { listPendingMessages } from '../fleet/commands/pending-messages.ts'
import { storeCommandReport } from '../fleet/commands/progress.ts'
import { configReported } from '../fleet/configs/reported.ts'
import { findUnenrolledDevice } from '../fleet/endpoints/past-credentials.ts'
import {
  findDeviceByCredential,
  listOwnConnections,
  markConnected,
  markDisconnected,
  storeStatus,
} from '../fleet/endpoints/presence.ts'
import { storeReportedStates } from '../fleet/gateways/states.ts'
import { storeSourceStates } from '../fleet/sources/reports.ts'
import type { ServerCertificate } from '../http/server-certificate.ts'
import type { SampleIntake } from '../sensors/ingest/intake.ts'
import type { Core } from './core.ts'
import type { Resources } from './resources.ts'

export interface Devices {
  readonly connections: DeviceConnections
  readonly listeners: MqttListeners
  readonly handlers: DeviceHandlers
  readonly metrics: DeviceMetrics
  readonly attempts: CredentialAttempts
  /** Takes no new connections, and disconnects the devices one after the other over up to this time. */
  release(maxMs: number): Promise<void>
  /** Takes no new connections, and closes those that are open. */
  close(): Promise<void>
}

export async function startDevices(
  stack: AsyncDisposableStack,
  { services, metrics: { registry }, mailbox, options, log }: Core,
  { intake }: Resources,
  certificate: ServerCertificate | undefined,
): Promise<Devices> {
  const attempts = new CredentialAttempts(services.clock)
  const handlers = deviceHandlers(services, intake, attempts)
  const metrics = makeDeviceMetrics(registry)
  const connections = new DeviceConnections({
    handlers,
    clock: services.clock,
    limits: services.limits,
    log,
    metrics,
    outageMs: () => services.db.health.outageMs,
  })
  mailbox.attach(connections)
  // The row that its devices point at is dead, and what they say cannot be stored.
  services.node?.onReplaced(() => connections.dropAll())
  connections.start()
  // This has an effect only if the listeners cannot be opened: in a normal stop the HTTP phase has already closed the connections.
  stack.defer(() => connections.close())
  const listeners = await openMqttListeners(connections, options, certificate, services.limits)
  const release = async (maxMs: number) => {
    listeners.close()
    await connections.release(maxMs)
  }
  const close = async () => {
    listeners.close()
    await connections.close()
  }
  // This has an effect only if the HTTP server cannot be started: otherwise phases/http.ts has closed the devices.
  stack.defer(close)
  return { connections, listeners, handlers, metrics, attempts, release, close }
}

const noAnswer = () => []

const deviceHandlers = (services: Services, intake: SampleIntake, attempts: CredentialAttempts): DeviceHandlers => ({
  identify: (endpointId, credential) => findDeviceByCredential(services, endpointId, credential),
  findUnenrolled: (endpointId, credential) => findUnenrolledDevice(services, endpointId, credential),
  attempted: (kind, endpointId, address) => attempts.record(kind, endpointId, address),
  connected: (connection) => markConnected(services, connection),
  disconnected: (connection, why) => markDisconnected(services, connection, why),
  listOwn: (endpointIds) => listOwnConnections(services, endpointIds),
  waiting: (connection, listensTo) => listPendingMessages(services, connection, listensTo),
  received: {
    status: (connection, message) => storeStatus(services, connection, message).then(noAnswer),
    sample: (connection, message) =>
      intake.receive(connection, message).then((body) => (body ? [{ kind: 'sample-refused', body }] : noAnswer())),
    async config(connection, message) {
      const body = await configReported(services, connection, message)
      return body ? [{ kind: 'config', body }] : []
    },
    operation: (connection, message) => storeCommandReport(services, connection, message).then(noAnswer),
    devices: (connection, message) => storeReportedStates(services, connection, message).then(noAnswer),
    sources: (connection, message) => storeSourceStates(services, connection, message).then(noAnswer),
    async logs({ device }, { id }) {
      const body = await renewLogsCommand(services, device, id)
      return body ? [{ kind: 'operation', body }] : []
    },
  },
})
