// Opens a session with a driver within a time limit, even if the driver throws, hangs or ignores its signal.
import type { ListedGatewayTest } from '../contract/device/protocol.ts'
import { type ItemDriverId, isSourceType } from '../contract/fleet/drivers.ts'
import { type DeviceNetwork, DriverFailure, type DriverSession } from './driver.ts'
import type { DriverTable } from './driver-table.ts'
import { limited } from './limited.ts'

interface OpenOptions {
  readonly network: DeviceNetwork
  readonly signal: AbortSignal
  readonly limitMs: number
  readonly isEnrolled?: boolean
}

interface OpenedSession {
  readonly session: DriverSession
  /** Listened to from the start: a session can end while its device enrols. */
  readonly ended: Promise<DriverFailure>
}

/** Rejects with a DriverFailure, or with the error of a driver that has a bug. */
export async function openDriverSession(
  drivers: DriverTable,
  {
    driver: name,
    host,
    port,
    username,
    secret,
    options,
    fingerprint,
  }: Omit<ListedGatewayTest, 'id' | 'driver'> & { readonly driver: ItemDriverId },
  { network, signal, limitMs, isEnrolled = false }: OpenOptions,
): Promise<OpenedSession> {
  const driver = isSourceType(name) ? undefined : drivers[name]
  if (!driver) throw new DriverFailure('UNSUPPORTED', `This gateway has no driver "${name}". Update the gateway.`)
  const opening = (async () =>
    driver.open({ host, port, username, secret, options, fingerprint, isEnrolled }, { network, signal }))()
  const seconds = Math.round(limitMs / 1000)
  const late = () => new DriverFailure('UNREACHABLE', `${host} port ${port} gave no useful answer within ${seconds} s.`)
  try {
    const session = await limited(Promise.race([opening, whenAborted(signal)]), limitMs, late)
    const ended = new Promise<DriverFailure>((resolve) => {
      session.once('ended', resolve)
    })
    // An emitter without a listener for errors would end the gateway.
    ;(session as NodeJS.EventEmitter).on('error', () => {})
    return { session, ended }
  } catch (error) {
    // A session that opens after the limit is closed immediately.
    opening.then((session) => session.close()).catch(() => {})
    throw error
  }
}

/** The driver gets the signal too, but one that ignores it must not delay a changed item. */
function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
