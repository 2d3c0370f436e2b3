// Opens a session of a source's driver for a test, and collects what it finds and what its devices report.
import { Ajv } from 'ajv'
import { expect, onTestFinished } from 'vitest'
import type { Sensor } from '../../../src/contract/device/models.ts'
import { type DeviceSample, StatusReport } from '../../../src/contract/device/protocol.ts'
import { FoundDevice } from '../../../src/contract/fleet/sources.ts'
import type { DriverSession } from '../../../src/gateway/driver.ts'
import { GatewayNetwork } from '../../../src/gateway/network.ts'
import { Reach } from '../../../src/gateway/reach.ts'
import type { DeviceMemory, SourceDriver, SourceSession, SourceSettings } from '../../../src/gateway/sources/source.ts'

const ajv = new Ajv({ strict: false, validateFormats: false })
ajv.addKeyword('plainDays')
const isFound = ajv.compile(FoundDevice)
const isStatus = ajv.compile(StatusReport)
const network = new GatewayNetwork(new Reach(['127.0.0.0/8']))

export interface OpenedSource {
  readonly session: SourceSession
  /** The latest report of each device, by its key. */
  readonly found: Map<string, FoundDevice>
  readonly reports: FoundDevice[][]
  readonly ended: string[]
  readonly logged: string[]
}

/** A source opened against a broker on this machine. Each report is checked against the contract, unless a test measures time. */
export async function openTestSource(
  driver: SourceDriver,
  settings: Partial<SourceSettings> & { url: string },
  { isChecked = true } = {},
): Promise<OpenedSource> {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const logged: string[] = []
  const context = {
    network: network.forSource(),
    signal: ending.signal,
    own: { endpointId: '00000000-0000-4000-8000-000000000000', url: 'https://roomkeeper.example' },
    log: (line: string) => void logged.push(line),
  }
  const session = await driver.open({ type: 'mqtt', ...settings } as SourceSettings, context)
  onTestFinished(() => session.close())
  const opened: OpenedSource = { session, found: new Map(), reports: [], ended: [], logged }
  session.on('found', (devices) => {
    opened.reports.push([...devices])
    for (const device of devices) {
      if (!isChecked) {
        opened.found.set(device.key, device)
        continue
      }
      const sent = JSON.parse(JSON.stringify(device))
      expect(isFound(sent), ajv.errorsText(isFound.errors)).toBe(true)
      opened.found.set(device.key, sent)
    }
  })
  session.on('ended', ({ state, message }) => void opened.ended.push(`${state}: ${message}`))
  return opened
}

export interface OpenedSensor {
  readonly session: DriverSession
  readonly samples: DeviceSample[]
  /** The latest value of each sensor that went up. */
  latest(): Partial<Record<Sensor, number>>
  status(): Record<string, unknown>
}

export const emptyMemory = (state?: unknown): DeviceMemory & { saved: unknown } => ({
  saved: state,
  load() {
    return this.saved
  },
  async save(next: unknown) {
    this.saved = JSON.parse(JSON.stringify(next))
  },
})

export async function openTestDevice(
  { session: source }: OpenedSource,
  key: string,
  memory: DeviceMemory = emptyMemory(),
): Promise<OpenedSensor> {
  const session = await source.openDevice(key, { signal: AbortSignal.timeout(600_000), memory })
  onTestFinished(() => session.close())
  const samples: DeviceSample[] = []
  session.on('sample', (sample) => samples.push(sample))
  return {
    session,
    samples,
    latest() {
      const { timestamp: _, shutterClosed: __, ...values } = Object.assign({}, ...samples)
      return values
    },
    status() {
      const sent = JSON.parse(JSON.stringify(session.status()))
      expect(isStatus(sent), ajv.errorsText(isStatus.errors)).toBe(true)
      return sent
    },
  }
}
