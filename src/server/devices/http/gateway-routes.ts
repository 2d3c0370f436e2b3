// Serves gateways: they read their list of devices, enrol the devices and answer tests, each with their own credential.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  devicePaths,
  type EnrolAnswer,
  type GatewayDeviceList,
  GatewayEnrolRequest,
  type GatewayTestAnswer,
  type SourceTestAnswer,
} from '../../../contract/device/protocol.ts'
import { GatewayTestResult } from '../../../contract/fleet/gateways.ts'
import { FoundDevices, SourceTestResult, StructurePart } from '../../../contract/fleet/sources.ts'
import { mediumBodyBytes } from '../../../contract/operation.ts'
import type { Log } from '../../core/log.ts'
import { sendJson } from '../../http/answer.ts'
import { bodyReader } from '../../http/input/input.ts'
import type { Device } from '../mqtt/handlers.ts'
import { type DeviceCheck, requireDevice } from './require-device.ts'

interface Enrolled {
  readonly endpointId: string
  readonly credential: string
}

export interface GatewayRouteOptions extends DeviceCheck {
  readonly log: Log
  readonly list: (gateway: Device, pageToken: string | undefined) => Promise<GatewayDeviceList>
  readonly enrol: (
    gateway: Device,
    itemId: string,
    request: GatewayEnrolRequest,
    from: { ip: string; requestId: string },
  ) => Promise<Enrolled>
  readonly answerTest: (gateway: Device, testId: string, answer: GatewayTestAnswer | SourceTestAnswer) => Promise<void>
  readonly foundDevices: (
    gateway: Device,
    sourceId: string,
    report: FoundDevices,
    from: { ip: string; requestId: string },
  ) => Promise<void>
  readonly structure: (gateway: Device, sourceId: string, part: StructurePart) => Promise<void>
  readonly addresses: () => string[]
}

/** A report of devices has up to 200 messages. */
const reportBodyBytes = 4 * 1024 * 1024

export function gatewayDeviceRoutes(app: FastifyInstance, options: GatewayRouteOptions): void {
  const { log, list, enrol, answerTest, foundDevices, structure, addresses } = options
  const readEnrolment = bodyReader(GatewayEnrolRequest, {})
  const readAnswer = bodyReader(GatewayTestResult, {})
  const readSourceAnswer = bodyReader(SourceTestResult, {})
  const readFound = bodyReader(FoundDevices, {})
  const readStructure = bodyReader(StructurePart, {})
  const identified = (request: FastifyRequest) => requireDevice(request, options)

  app.get(devicePaths.gatewayDevices, async (request, reply) => {
    const gateway = await identified(request)
    const { pageToken } = request.query as { pageToken?: string | string[] }
    const page = await list(gateway, pageToken === undefined ? undefined : String(pageToken))
    // The list has secrets.
    return sendJson(reply.header('cache-control', 'no-store'), JSON.stringify(page))
  })

  app.post(`${devicePaths.gatewayDevices}/:itemId/enrol`, async (request, reply) => {
    const gateway = await identified(request)
    const { itemId } = request.params as { itemId: string }
    const body = readEnrolment(request.body) as GatewayEnrolRequest
    const { endpointId, credential } = await enrol(gateway, itemId, body, { ip: request.ip, requestId: request.id })
    log.info({ org: gateway.org.id, endpoint: endpointId, gateway: gateway.id, item: itemId }, 'device enrolled')
    return sendJson(reply, JSON.stringify({ endpointId, credential, connect: addresses() } satisfies EnrolAnswer))
  })

  app.post(`${devicePaths.gatewayTests}/:testId`, { bodyLimit: mediumBodyBytes }, async (request, reply) => {
    const gateway = await identified(request)
    const { testId } = request.params as { testId: string }
    await answerTest(gateway, testId, readAnswer(request.body) as GatewayTestAnswer)
    return sendJson(reply, '{}')
  })

  app.post(`${devicePaths.gatewaySourceTests}/:testId`, { bodyLimit: mediumBodyBytes }, async (request, reply) => {
    const gateway = await identified(request)
    const { testId } = request.params as { testId: string }
    await answerTest(gateway, testId, readSourceAnswer(request.body) as SourceTestAnswer)
    return sendJson(reply, '{}')
  })

  app.post(
    `${devicePaths.gatewaySources}/:sourceId/devices`,
    { bodyLimit: reportBodyBytes },
    async (request, reply) => {
      const gateway = await identified(request)
      const { sourceId } = request.params as { sourceId: string }
      const from = { ip: request.ip, requestId: request.id }
      await foundDevices(gateway, sourceId, readFound(request.body) as FoundDevices, from)
      return sendJson(reply, '{}')
    },
  )

  app.put(
    `${devicePaths.gatewaySources}/:sourceId/structure`,
    { bodyLimit: reportBodyBytes },
    async (request, reply) => {
      const gateway = await identified(request)
      const { sourceId } = request.params as { sourceId: string }
      await structure(gateway, sourceId, readStructure(request.body) as StructurePart)
      return sendJson(reply, '{}')
    },
  )
}
