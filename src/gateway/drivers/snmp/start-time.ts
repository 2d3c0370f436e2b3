// Decides when a device started, from counters that an agent can start again without the device.
import { secondMs } from '../../../contract/durations.ts'

export interface UptimeCounters {
  readonly hostTicks?: number | undefined
  readonly agentTicks?: number | undefined
  readonly engineBoots?: number | undefined
  readonly engineSeconds?: number | undefined
}

const tickMs = 10
/** After 497.1 days a counter of 1/100 s starts again at 0, which is not a restart. */
const ticksMs = 2 ** 32 * tickMs
/** Counters of one answer differ by what the agent took to start, and clocks drift between two answers. */
const toleranceMs = 120 * secondMs

/** Remembers the start of a device while its session lasts. */
export class StartTime {
  #startedAt: number | undefined
  #counters: UptimeCounters | undefined
  #readAt = 0

  /** Returns the start of the device, in milliseconds since 1970; undefined if it has no counter. */
  read(counters: UptimeCounters, now: number): number | undefined {
    const uptimeMs = uptimeOf(counters)
    const isSame = this.#startedAt !== undefined && !this.#hasRestarted(counters, now)
    // The first calculation counts: its clock and the device's drift apart by seconds each day.
    if (!isSame) this.#startedAt = uptimeMs === undefined ? undefined : now - uptimeMs
    this.#counters = counters
    this.#readAt = now
    return this.#startedAt
  }

  #hasRestarted(counters: UptimeCounters, now: number): boolean {
    const before = this.#counters ?? {}
    const passedMs = now - this.#readAt
    if (counters.hostTicks !== undefined && before.hostTicks !== undefined) {
      return isReset(before.hostTicks, counters.hostTicks, passedMs)
    }
    if (counters.engineBoots !== undefined && before.engineBoots !== undefined) {
      return counters.engineBoots !== before.engineBoots
    }
    if (counters.agentTicks !== undefined && before.agentTicks !== undefined) {
      return isReset(before.agentTicks, counters.agentTicks, passedMs)
    }
    return false
  }
}

/** A smaller counter is a restart, unless it was about to start again by itself. */
const isReset = (before: number, after: number, passedMs: number) =>
  after < before && before * tickMs + passedMs + toleranceMs < ticksMs

/** The uptime of the device itself is preferred to the uptime of its SNMP agent. */
function uptimeOf({ hostTicks, engineSeconds, agentTicks }: UptimeCounters): number | undefined {
  // Agents without version 3 often say 0 all the time.
  const engineMs = engineSeconds ? engineSeconds * secondMs : undefined
  const ticks = hostTicks ?? (engineMs === undefined ? agentTicks : undefined)
  if (ticks === undefined) return engineMs
  // The device has run at least as long as its agent, so a smaller counter has started again in between.
  const laps = Math.max(0, Math.ceil(((engineMs ?? 0) - ticks * tickMs - toleranceMs) / ticksMs))
  return ticks * tickMs + laps * ticksMs
}
