// Opens a session with a driver within a time limit, even if the driver throws, hangs or ignores its signal.
import { type ItemDriverId, isSourceType } from '../contract/fleet/drivers.ts'
import { type DeviceNetwork, DriverFailure, type DriverItem, type DriverSession } from './driver.ts'
import type { DriverTable } from './driver-table.ts'
import { limited } from './limited.ts'

interface OpenLimits {
  readonly signal: AbortSignal
  readonly limitMs: number
}

export interface OpenedSession {
  readonly session: DriverSession
  /** Listened to from the start: a session can end while its device enrols. */
  readonly ended: Promise<DriverFailure>
}

/** Rejects with a DriverFailure, or with the error of a driver that has a bug. */
export async function openDriverSession(
  drivers: DriverTable,
  { driver: name, ...item }: DriverItem & { readonly driver: ItemDriverId },
  { network, signal, limitMs }: OpenLimits & { readonly network: DeviceNetwork },
): Promise<OpenedSession> {
  const driver = isSourceType(name) ? undefined : drivers[name]
  if (!driver) throw new DriverFailure('UNSUPPORTED', `This gateway has no driver "${name}". Update the gateway.`)
  const { host, port, username, secret, options, fingerprint, isEnrolled = false } = item
  const target = { host, port, username, secret, options, fingerprint, isEnrolled }
  const late = (seconds: number) =>
    new DriverFailure('UNREACHABLE', `${host} port ${port} gave no useful answer within ${seconds} s.`)
  return listenTo(await openWithin(async () => driver.open(target, { network, signal }), { signal, limitMs, late }))
}

export function listenTo(session: DriverSession): OpenedSession {
  const ended = new Promise<DriverFailure>((resolve) => {
    session.once('ended', resolve)
  })
  // An emitter without a listener for errors would end the gateway.
  ;(session as NodeJS.EventEmitter).on('error', () => {})
  return { session, ended }
}

/** The work of a driver that opens something. What opens after the limit is closed immediately. */
export async function openWithin<T extends { close(): void }>(
  open: () => Promise<T>,
  { signal, limitMs, late }: OpenLimits & { readonly late: (seconds: number) => Error },
): Promise<T> {
  const opening = open()
  try {
    return await limited(Promise.race([opening, whenAborted(signal)]), limitMs, () => late(Math.round(limitMs / 1000)))
  } catch (error) {
    opening.then((opened) => opened.close()).catch(() => {})
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
