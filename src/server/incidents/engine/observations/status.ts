// Observes endpoints by their status and latest sample: storage, firmware, clock, faults, peripherals and silent sensors. [contract 10.rule]
import { dayMs, minuteMs, secondMs } from '../../../../contract/durations.ts'
import { conditionOf, type Finding, type Observation, type RulesInForce } from '../types.ts'
import type { ObservedWithSample } from './endpoint-store.ts'
import { observeFaults, type ReportedFault } from './faults.ts'
import type { FullInput } from './input.ts'
import type { ReportedPeripheral } from './known-peripherals.ts'
import { observePeripherals } from './peripherals.ts'

/** An endpoint with what was found about its parts before. */
export interface ObservedParts {
  readonly endpoint: ObservedWithSample
  /** The findings of rules about parts, such as `device.fault`. */
  readonly findings: readonly Finding[]
}

interface ReportedStatus {
  readonly firmwareVersion?: string
  readonly latestVersion?: string
  readonly ntpServerReachable?: boolean
  readonly faults?: readonly ReportedFault[]
  readonly peripherals?: readonly ReportedPeripheral[]
  /** Sizes are decimal numbers as text. */
  readonly [name: string]: unknown
}

/** The storage and the clock of a device are known only while it is connected; its firmware does not change in between. */
export function observeStatus(
  { endpoint, findings }: ObservedParts,
  rules: RulesInForce,
  input: Pick<FullInput, 'now' | 'settings' | 'peripherals'>,
): (Observation | undefined)[] {
  const status = JSON.parse(endpoint.status) as ReportedStatus
  return [
    observeFirmware(endpoint, status),
    ...(endpoint.connected
      ? [
          observeStorage(endpoint, status, rules['storage.low'].limits),
          observeTimeServer(endpoint, status),
          observeSilentSensor(endpoint, rules['sensor.silent'], input),
          ...observeFaults(endpoint.id, status.faults ?? [], findings, input.now),
          ...observePeripherals(
            endpoint.id,
            status.peripherals,
            input.peripherals.note(endpoint.id, status.peripherals ?? [], memoryLimits(rules)),
            findings,
          ),
        ]
      : []),
  ]
}

function memoryLimits({ 'peripheral.missing': { limits } }: RulesInForce) {
  const { connectedMinutes = 0, rememberedDays = 0 } = limits
  return { connectedMs: connectedMinutes * minuteMs, rememberedMs: rememberedDays * dayMs }
}

function observeFirmware(
  endpoint: ObservedWithSample,
  { firmwareVersion, latestVersion }: ReportedStatus,
): Observation | undefined {
  if (!firmwareVersion || !latestVersion) return undefined
  return {
    ...conditionOf('firmware.behind', endpoint.id),
    state: firmwareVersion === latestVersion ? 'clear' : 'holds',
  }
}

function observeTimeServer(
  endpoint: ObservedWithSample,
  { ntpServerReachable }: ReportedStatus,
): Observation | undefined {
  if (ntpServerReachable === undefined) return undefined
  return { ...conditionOf('clock.unreachable', endpoint.id), state: ntpServerReachable ? 'clear' : 'holds' }
}

const storages = ['System', 'Internal', 'External'] as const

function observeStorage(
  endpoint: ObservedWithSample,
  status: ReportedStatus,
  { opensBelowPercent = 0, endsAtPercent = 0 }: Readonly<Record<string, number>>,
): Observation | undefined {
  const shares = storages.flatMap((storage) => {
    const [free, total] = [Number(status[`free${storage}Storage`]), Number(status[`total${storage}Storage`])]
    return total > 0 && free >= 0 ? [{ storage: storage.toLowerCase(), percent: (100 * free) / total }] : []
  })
  const least = shares.toSorted((a, b) => a.percent - b.percent)[0]
  if (!least) return undefined
  if (least.percent >= opensBelowPercent) {
    return {
      ...conditionOf('storage.low', endpoint.id),
      state: least.percent >= endsAtPercent ? 'clear' : 'between',
    }
  }
  const detail = { storage: least.storage, freePercent: Math.floor(least.percent), opensBelowPercent }
  return { ...conditionOf('storage.low', endpoint.id), state: 'holds', detail }
}

/** A device that never sent a sample has no sensors, or does not use them. If its last sample is stale, it can have fallen silent. */
function observeSilentSensor(
  endpoint: ObservedWithSample,
  { holdMs, limits: { withinDays = 0 } }: RulesInForce['sensor.silent'],
  { now, settings }: Pick<FullInput, 'now' | 'settings'>,
): Observation | undefined {
  if (endpoint.timestamp === null) return undefined
  // Many sensors behind a broker report changes only, and the source says whether they are there.
  if (endpoint.source_type === 'mqtt') return { ...conditionOf('sensor.silent', endpoint.id), state: 'clear' }
  const sentAt = endpoint.timestamp * secondMs
  if (now - sentAt < Math.min(holdMs, settings.freshnessSeconds * secondMs))
    return { ...conditionOf('sensor.silent', endpoint.id), state: 'clear' }
  if (now - sentAt > withinDays * dayMs) return { ...conditionOf('sensor.silent', endpoint.id), state: 'between' }
  // A device that was away could send nothing.
  return {
    ...conditionOf('sensor.silent', endpoint.id),
    state: 'holds',
    since: Math.max(sentAt, endpoint.connection_time ?? 0),
  }
}
