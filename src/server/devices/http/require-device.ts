// Identifies a device that sends an HTTP request with its endpoint id and credential.
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../core/failure.ts'
import type { CountRefusal } from '../../http/gate.ts'
import type { Device, DeviceHandlers } from '../mqtt/handlers.ts'
import { insecureTransport } from './secure-transport.ts'

export interface DeviceCheck {
  readonly identify: DeviceHandlers['identify']
  /** Counts wrong credentials against the address that they came from. */
  readonly refuse: CountRefusal
}

/** Throws if the device must not send its credential over this connection, or if the credential does not work. */
export async function requireDevice(request: FastifyRequest, { identify, refuse }: DeviceCheck): Promise<Device> {
  const problem = insecureTransport(request)
  if (problem) throw problem
  const device = await deviceOf(request, identify)
  if (!device) throw refuse(request, noCredential)
  return device
}

const noCredential = new Failure(
  'UNAUTHENTICATED',
  'A device authenticates with its endpoint ID and credential. Send them with HTTP Basic authentication.',
  { headers: { 'WWW-Authenticate': 'Basic realm="roomkeeper"' } },
)

async function deviceOf(request: FastifyRequest, identify: DeviceCheck['identify']): Promise<Device | undefined> {
  const [, credentials = ''] = /^basic +(\S+)\s*$/i.exec(request.headers.authorization ?? '') ?? []
  const text = Buffer.from(credentials, 'base64').toString()
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : identify(text.slice(0, colon), text.slice(colon + 1))
}
