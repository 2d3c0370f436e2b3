// The driver for switches, power units and other devices with SNMP (versions 2c and 3): it reads, and changes nothing.
import { minuteMs, secondMs } from '../../../contract/durations.ts'
import {
  type DeviceIdentity,
  type Driver,
  type DriverContext,
  DriverFailure,
  type DriverItem,
  type DriverSession,
} from '../../driver.ts'
import { numberOption } from '../item-options.ts'
import { type DeviceStatus, PolledSession, type PollLimits, usualPollLimits } from '../polled-session.ts'
import { accessOf } from './access.ts'
import { type Description, readDescription } from './description.ts'
import { system, uptime } from './oids.ts'
import { type RequestLimits, SnmpClient, type SnmpTarget } from './snmp-client.ts'
import { snmpNumber, snmpText } from './snmp-values.ts'
import { StartTime } from './start-time.ts'
import { readTables, type SnmpTables } from './tables.ts'
import { readUpsAlarms, upsFaults, upsObjects, upsReadings } from './ups-status.ts'

export interface SnmpLimits extends PollLimits {
  /** For the first answer, which can take several attempts. */
  readonly firstAnswerMs: number
  readonly request: RequestLimits
  readonly tablesMs: number
  /** Tables are left for the first poll if the start of a session took longer than this. */
  readonly quickStartMs: number
}
export const usualSnmpLimits: SnmpLimits = {
  ...usualPollLimits,
  firstAnswerMs: 2.5 * secondMs,
  request: { timeoutMs: 3 * secondMs, retries: 1 },
  tablesMs: 5 * minuteMs,
  quickStartMs: 5 * secondMs,
}

/** Some old agents answer only requests with a small number, so the second attempt has one. */
const attempts = [32, 16, 32] as const

export class SnmpDriver implements Driver {
  readonly #limits: SnmpLimits

  constructor(limits: SnmpLimits = usualSnmpLimits) {
    this.#limits = limits
  }

  async open(item: DriverItem, { network, signal }: DriverContext): Promise<DriverSession> {
    const limits = this.#limits
    const startedAt = performance.now()
    const intervalMs = numberOption(item, 'pollSeconds', limits.pollSeconds) * secondMs
    const access = accessOf(item)
    const target = { address: await network.resolve(item.host), port: item.port, access }
    const client = await connect(target, limits, signal)
    const closeClient = () => client.close()
    signal.addEventListener('abort', closeClient, { once: true })
    try {
      const device = new SnmpDevice(client, target.address, await readDescription(client), limits.tablesMs)
      const status = await device.poll({ withTables: performance.now() - startedAt < limits.quickStartMs })
      signal.throwIfAborted()
      return PolledSession.start({
        identity: device.identity,
        status,
        intervalMs,
        limits,
        signal,
        poll: () => device.poll(),
        close: closeClient,
      })
    } catch (error) {
      client.close()
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', closeClient)
    }
  }
}

/** Returns a client that the agent has answered. */
async function connect(target: SnmpTarget, limits: SnmpLimits, signal: AbortSignal): Promise<SnmpClient> {
  let failure: unknown
  let answeredCount = 0
  for (const idBitsSize of attempts) {
    signal.throwIfAborted()
    const probe = new SnmpClient(target, { timeoutMs: limits.firstAnswerMs, retries: 0 }, idBitsSize)
    const closeProbe = () => probe.close()
    signal.addEventListener('abort', closeProbe, { once: true })
    try {
      await probe.get([system.objectId])
      return new SnmpClient(target, limits.request, idBitsSize)
    } catch (error) {
      signal.throwIfAborted()
      failure = error
      if (!(error instanceof DriverFailure && error.state === 'UNREACHABLE')) break
      if (probe.hasAnswered) answeredCount++
    } finally {
      signal.removeEventListener('abort', closeProbe)
      probe.close()
    }
  }
  if (answeredCount < attempts.length) throw failure
  // The engine of version 3 answered each time, and the request was dropped: some agents do not report what they cannot decrypt.
  if ('user' in target.access) {
    throw new DriverFailure(
      'REFUSED',
      'The device does not answer the requests of this user: check the privacy password and the privProtocol.',
    )
  }
  throw new DriverFailure(
    'UNSUPPORTED',
    `${target.address} sends answers, but none to the requests. Check that SNMP has this port.`,
  )
}

/** Keeps what is not read at each poll: the description and the tables. */
class SnmpDevice {
  readonly #client: SnmpClient
  readonly #address: string
  readonly #tablesMs: number
  readonly #startTime = new StartTime()
  #description: Description
  #startedAt: number | undefined
  #tables: SnmpTables = { networks: [], outlets: undefined }
  #tablesReadAt = Number.NEGATIVE_INFINITY

  constructor(client: SnmpClient, address: string, description: Description, tablesMs: number) {
    this.#client = client
    this.#address = address
    this.#description = description
    this.#tablesMs = tablesMs
  }

  get identity(): DeviceIdentity {
    return this.#description.identity
  }

  async poll({ withTables = true } = {}): Promise<DeviceStatus> {
    const ofUps = this.#description.isUps ? upsObjects : []
    const values = await this.#client.get([system.name, system.location, ...Object.values(uptime), ...ofUps])
    const startedAt = this.#startTime.read(
      {
        hostTicks: snmpNumber(values.get(uptime.hostTicks)),
        agentTicks: snmpNumber(values.get(uptime.agentTicks)),
        engineBoots: snmpNumber(values.get(uptime.engineBoots)),
        engineSeconds: snmpNumber(values.get(uptime.engineSeconds)),
      },
      Date.now(),
    )
    if (this.#startedAt !== undefined && startedAt !== this.#startedAt) await this.#describeAgain()
    this.#startedAt = startedAt
    if (withTables && performance.now() - this.#tablesReadAt >= this.#tablesMs) await this.#readTables()
    const { identity, kind, hardwareVersion, isUps } = this.#description
    const { networks, outlets } = this.#tables
    const location = snmpText(values.get(system.location), 255)
    return {
      name: snmpText(values.get(system.name), 100),
      manufacturer: identity.manufacturer,
      kind,
      actions: [],
      firmwareVersion: identity.firmwareVersion,
      hardwareVersion,
      startedAt: startedAt === undefined ? undefined : new Date(startedAt).toISOString(),
      localIpAddress: this.#address,
      networks,
      faults: isUps ? [...upsFaults(values), ...(await readUpsAlarms(this.#client, values))] : [],
      readings: isUps ? upsReadings(values) : [],
      facts: [
        ...(location ? [{ name: 'location', text: location }] : []),
        ...(outlets ? [{ name: 'outlets', text: outlets }] : []),
      ],
    }
  }

  /** After a restart the firmware can be another one, or another device can have the address. */
  async #describeAgain(): Promise<void> {
    const description = await readDescription(this.#client)
    const [before, now] = [this.identity.serial, description.identity.serial]
    if (before && now && before !== now) {
      throw new DriverFailure(
        'CHANGED',
        `The device has the serial number ${now}. Before it restarted it had ${before}.`,
      )
    }
    this.#description = description
    this.#tablesReadAt = Number.NEGATIVE_INFINITY
  }

  async #readTables(): Promise<void> {
    this.#tablesReadAt = performance.now()
    try {
      const tables = await readTables(this.#client, this.#description.maker)
      // An agent that has just started has no interfaces yet.
      this.#tables = tables.networks.length > 0 ? tables : { ...tables, networks: this.#tables.networks }
    } catch (error) {
      // Some agents fail at a table, or stay silent. The rest of the status does not depend on it.
      if (error instanceof DriverFailure && error.state === 'REFUSED') throw error
    }
  }
}
