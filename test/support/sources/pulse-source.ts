// Opens the driver of Neat Pulse against a test peer, and collects what it reports.
import { onTestFinished } from 'vitest'
import type { DeviceSample, UpMessage } from '../../../src/contract/device/protocol.ts'
import type { FoundDevice, ReportedStructure, SourceContent } from '../../../src/contract/fleet/sources.ts'
import type { DriverSession } from '../../../src/gateway/driver.ts'
import { neatPulseWith } from '../../../src/gateway/sources/neat-pulse/neat-pulse.ts'
import type { PulseTimes } from '../../../src/gateway/sources/neat-pulse/pulse-session.ts'
import type { DeviceMemory, SourceFailure, SourceSession, SourceSettings } from '../../../src/gateway/sources/source.ts'
import { loopbackTrusting } from '../drivers/loopback-network.ts'

/** Everything is read many times in a second. */
export const quickPulseTimes: PulseTimes = {
  twoWithinMs: 10,
  listMs: 100,
  roundMs: { min: 200, max: 200 },
  readingMs: 1,
  retryMs: 50,
  giveUpMs: 150,
}

export class OpenedPulse {
  readonly session: SourceSession
  readonly found = new Map<string, FoundDevice>()
  /** The keys of the last complete list. */
  listed: readonly string[] = []
  structure: Omit<ReportedStructure, 'revision'> | undefined
  content: SourceContent | undefined
  failure: SourceFailure | undefined
  readonly lines: string[]

  constructor(session: SourceSession, lines: string[]) {
    this.session = session
    this.lines = lines
    session
      .on('found', (devices) => {
        for (const device of devices) this.found.set(device.key, device)
      })
      .on('listed', (keys) => {
        this.listed = keys
      })
      .on('structure', (structure) => {
        this.structure = structure
      })
      .on('content', (content) => {
        this.content = content
      })
      .on('ended', (failure) => {
        this.failure = failure
      })
  }

  async device(key: string, memory: DeviceMemory = new TestMemory()): Promise<OpenedDevice> {
    return new OpenedDevice(await this.session.openDevice(key, { signal: new AbortController().signal, memory }))
  }
}

/** A device session, with everything that it has reported. */
export class OpenedDevice {
  readonly session: DriverSession
  readonly samples: DeviceSample[] = []
  status: UpMessage<'status'>
  reason: string | undefined

  constructor(session: DriverSession) {
    this.session = session
    this.status = session.status()
    session
      .on('status', (changes) => {
        this.status = Object.fromEntries(
          Object.entries({ ...this.status, ...changes }).filter(([, value]) => value !== null),
        )
      })
      .on('sample', (sample) => this.samples.push(sample))
      .on('ended', ({ message }) => {
        this.reason = message
      })
  }
}

/** The memory that a gateway keeps for a device. */
export class TestMemory implements DeviceMemory {
  state: unknown

  load(): unknown {
    return structuredClone(this.state)
  }

  async save(state: unknown): Promise<void> {
    this.state = structuredClone(state)
  }
}

type PulseSettings = Partial<SourceSettings> & Pick<SourceSettings, 'url' | 'orgId' | 'key'>

export async function openPulse(
  settings: PulseSettings,
  {
    times = quickPulseTimes,
    // Sessions of the same driver share their pace.
    driver = neatPulseWith(times),
    own = { endpointId: 'own', url: 'http://roomkeeper.test' },
    deviceCount = 0,
    knownKeys = [] as readonly string[],
  } = {},
): Promise<OpenedPulse> {
  const end = new AbortController()
  const lines: string[] = []
  const context = {
    network: loopbackTrusting(),
    signal: end.signal,
    own,
    deviceCount,
    knownKeys: () => knownKeys,
    log: (line: string) => lines.push(line),
  }
  const session = await driver.open({ type: 'neat-pulse', ...settings }, context)
  onTestFinished(() => {
    session.close()
    end.abort()
  })
  return new OpenedPulse(session, lines)
}
