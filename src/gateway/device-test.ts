// Tries a device once because a person asked, and says in words what was found.
import type { GatewayTestAnswer, ListedGatewayTest } from '../contract/device/protocol.ts'
import { secondMs } from '../contract/durations.ts'
import { type DeviceCertificate, type DeviceIdentity, DriverFailure, type DriverSession } from './driver.ts'
import type { DriverTable } from './driver-table.ts'
import type { GatewayNetwork } from './network.ts'
import { openDriverSession } from './open-driver-session.ts'
import { secretsOfItem, shortLine, withoutSecrets } from './short-line.ts'

/** The server answers its caller after 20 s, and the answer has to travel. */
const testLimitMs = 17 * secondMs
const maxNotes = 16

export async function testDevice(
  test: ListedGatewayTest,
  { drivers, network }: { readonly drivers: DriverTable; readonly network: GatewayNetwork },
): Promise<GatewayTestAnswer> {
  const attempt = new AbortController()
  const attemptNetwork = network.forAttempt()
  let session: DriverSession | undefined
  try {
    const options = { network: attemptNetwork, signal: attempt.signal, limitMs: testLimitMs }
    session = (await openDriverSession(drivers, test, options)).session
    const { identity } = session
    return { found: foundText(identity, identity.certificate ?? attemptNetwork.shownCertificate) }
  } catch (error) {
    const isKnown = error instanceof DriverFailure
    const text = isKnown ? error.message : `The driver failed: ${(error as Error).message}`
    const { shownCertificate } = attemptNetwork
    return {
      ...(shownCertificate && { found: { certificate: certificateText(shownCertificate) } }),
      state: isKnown ? error.state : 'UNREACHABLE',
      reason: shortLine(withoutSecrets(secretsOfItem(test), text)) || 'The device gave no useful answer.',
    }
  } finally {
    try {
      session?.close()
    } catch {
      // The attempt is over, and its connections are closed below.
    }
    attempt.abort()
  }
}

function foundText(
  { manufacturer, model, serial, firmwareVersion, notes = [] }: DeviceIdentity,
  certificate: DeviceCertificate | undefined,
): NonNullable<GatewayTestAnswer['found']> {
  const texts = {
    manufacturer: [manufacturer, 100],
    model: [model, 64],
    serial: [serial, 64],
    firmwareVersion: [firmwareVersion, 255],
  } as const
  const cut = Object.entries(texts).flatMap(([name, [text, max]]) => {
    const line = text === undefined ? '' : shortLine(text, max)
    return line === '' ? [] : [[name, line]]
  })
  return {
    ...Object.fromEntries(cut),
    ...(certificate && { certificate: certificateText(certificate) }),
    ...(notes.length > 0 && { notes: notes.slice(0, maxNotes).map((note) => shortLine(note)) }),
  }
}

export const certificateText = ({ fingerprint, isTrusted, validUntil }: DeviceCertificate) => ({
  fingerprint,
  isTrusted,
  validUntil: (Number.isNaN(validUntil.getTime()) ? new Date(0) : validUntil).toISOString(),
})
