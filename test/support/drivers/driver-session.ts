// Opens a session of a driver for a test, and checks what it reports against the device protocol.
import { Ajv } from 'ajv'
import { expect, onTestFinished } from 'vitest'
import { StatusReport } from '../../../src/contract/device/protocol.ts'
import type { DeviceNetwork, Driver, DriverItem, DriverSession } from '../../../src/gateway/driver.ts'
import { loopbackTrusting } from './loopback-network.ts'

type ItemFields = Partial<DriverItem> & Pick<DriverItem, 'port'>

const ajv = new Ajv({ strict: false, validateFormats: false })
const isStatus = ajv.compile(StatusReport)

/** The status as it goes up: as JSON, and only if the protocol allows it. */
export function sentStatus(session: DriverSession): Record<string, unknown> {
  const sent = JSON.parse(JSON.stringify(session.status()))
  expect(isStatus(sent), ajv.errorsText(isStatus.errors)).toBe(true)
  return sent
}

export async function openTestSession(
  driver: Driver,
  item: ItemFields,
  network: DeviceNetwork = loopbackTrusting(),
): Promise<DriverSession> {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  return driver.open({ host: 'device.example', options: {}, ...item }, { network, signal: ending.signal })
}

/** Why there is no session: "STATE: reason". */
export const whyNot = (driver: Driver, item: ItemFields, network?: DeviceNetwork): Promise<string> =>
  openTestSession(driver, item, network).then(
    () => 'there is a session',
    (failure) => `${failure.state}: ${failure.message}`,
  )
