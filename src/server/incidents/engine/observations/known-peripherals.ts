// Remembers which peripherals devices have had: those that were connected for long enough, and not too long ago. [contract 10.rule]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { dayMs } from '../../../../contract/durations.ts'
import type { PeripheralKind } from '../../../../contract/fleet/reported-status.ts'
import type { OrgReader } from '../../../db/handles.ts'
import { rowsPerPart } from '../../../db/queries/in-parts.ts'
import { listKnownPeripheralsAfter, type PeripheralsRow } from './peripheral-store.ts'

export interface ReportedPeripheral {
  readonly id: string
  readonly name: string
  readonly kind: PeripheralKind
  readonly connected: boolean
}

export interface KnownPeripheral extends Pick<ReportedPeripheral, 'id' | 'name' | 'kind'> {
  /** The last check that saw it connected. */
  readonly connectedAt: number
}

interface MemoryLimits {
  /** A peripheral is known after it was connected for this long without a break. */
  readonly connectedMs: number
  /** A peripheral that was not connected for this long is forgotten. */
  readonly rememberedMs: number
}

/** How long a peripheral that is not known yet has been connected without a break. */
interface Count {
  readonly ms: number
  readonly checkedAt: number
}

/** While a peripheral stays connected, its time is stored this often. */
const storedEveryMs = dayMs
/** A device that invents a new id in each report must not fill the table. */
const maxKnownPerDevice = 64

/**
 * The check of every minute passes what the connected devices report, so a status report itself costs nothing. Counts are not stored:
 * after a restart, the time of a peripheral that is not known yet starts over. Time in which the device is away does not count, and is not
 * a break.
 */
export class KnownPeripherals {
  readonly #known = new Map<string, readonly KnownPeripheral[]>()
  readonly #stored = new Map<string, readonly KnownPeripheral[]>()
  readonly #counts = new Map<string, ReadonlyMap<string, Count>>()
  /** Endpoints whose rows have to be written. */
  readonly #changed = new Set<string>()
  #checkedAt = Number.NEGATIVE_INFINITY
  #previousCheckAt = Number.NEGATIVE_INFINITY

  static async read(on: OrgReader): Promise<KnownPeripherals> {
    const memory = new KnownPeripherals()
    for (let after = ''; ; await nextTurn()) {
      const rows = await listKnownPeripheralsAfter(on, { after, limit: rowsPerPart })
      for (const row of rows) memory.#known.set(row.endpoint_id, JSON.parse(row.peripherals))
      const last = rows.at(-1)
      if (!last || rows.length < rowsPerPart) break
      after = last.endpoint_id
    }
    for (const [id, known] of memory.#known) memory.#stored.set(id, known)
    return memory
  }

  startCheck(now: number): void {
    this.#previousCheckAt = this.#checkedAt
    this.#checkedAt = now
  }

  /** Notes what a connected device reports, and returns the peripherals that it has had. */
  note(
    endpointId: string,
    reported: readonly ReportedPeripheral[],
    { connectedMs, rememberedMs }: MemoryLimits,
  ): readonly KnownPeripheral[] {
    const before = this.#known.get(endpointId) ?? []
    if (reported.length === 0 && before.length === 0) {
      this.#counts.delete(endpointId)
      return before
    }
    const now = this.#checkedAt
    const known = new Map(before.map((each) => [each.id, each]))
    const counts = new Map<string, Count>()
    for (const { id, name, kind, connected } of reported) {
      if (!connected) continue
      const count = known.has(id) ? undefined : this.#countOf(endpointId, id)
      if (!count || count.ms >= connectedMs) known.set(id, { id, name, kind, connectedAt: now })
      else counts.set(id, count)
    }
    if (counts.size > 0) this.#counts.set(endpointId, counts)
    else this.#counts.delete(endpointId)
    const remembered = [...known.values()]
      .filter(({ connectedAt }) => connectedAt >= now - rememberedMs)
      .sort((a, b) => b.connectedAt - a.connectedAt)
      .slice(0, maxKnownPerDevice)
    this.#known.set(endpointId, remembered)
    if (this.#isChanged(remembered, this.#stored.get(endpointId) ?? [])) this.#changed.add(endpointId)
    return remembered
  }

  #countOf(endpointId: string, id: string): Count {
    const { ms, checkedAt } = this.#counts.get(endpointId)?.get(id) ?? { ms: 0, checkedAt: Number.NaN }
    const now = this.#checkedAt
    return { ms: ms + (checkedAt === this.#previousCheckAt ? Math.max(now - checkedAt, 0) : 0), checkedAt: now }
  }

  /** Forgets endpoints that were deleted, and lists the rows to write. */
  listChanges(exists: (endpointId: string) => boolean): PeripheralsRow[] {
    for (const id of this.#known.keys()) {
      if (exists(id)) continue
      for (const memory of [this.#known, this.#stored, this.#counts, this.#changed]) memory.delete(id)
    }
    const rows = [...this.#changed].map((id): PeripheralsRow => {
      const known = this.#known.get(id) ?? []
      this.#stored.set(id, known)
      return { endpoint_id: id, peripherals: JSON.stringify(known) }
    })
    this.#changed.clear()
    return rows
  }

  /** The names alone do not count: a device could change one with each report. */
  #isChanged(known: readonly KnownPeripheral[], stored: readonly KnownPeripheral[]): boolean {
    if (known.length !== stored.length) return true
    const times = new Map(stored.map(({ id, connectedAt }) => [id, connectedAt]))
    return known.some(({ id, connectedAt }) => {
      const storedAt = times.get(id)
      if (storedAt === undefined) return true
      const isConnected = connectedAt === this.#checkedAt
      return connectedAt - storedAt > (isConnected ? storedEveryMs : 0)
    })
  }
}
