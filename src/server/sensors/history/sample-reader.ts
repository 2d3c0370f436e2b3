// Reads raw samples: as they are, or summed up in buckets of five minutes.

import { numbersFrom, quarters, slots } from '../../core/time/slots.ts'
import type { OrgReader } from '../../db/handles.ts'
import type { SensorColumn } from '../../db/schema/schema.ts'
import { samplesInSlot } from './rollup-reader.ts'
import { type EndpointSelection, listRaw, listSums, type RawRow, type StatisticsRow } from './store.ts'
import { Sums } from './sums.ts'
import { inTurns, maxRowsPerSlice, type SliceReader, type SliceResult } from './walk.ts'

/** The number of samples in a slot is unknown, so the walk begins with a few hours and adapts. */
abstract class SlotReader {
  readonly buckets = slots
  readonly table = 'sample_quarters'
  readonly slots = quarters
  readonly initialBuckets = 48
  readonly maxBuckets = maxRowsPerSlice
  readonly endpointsPerQuery = maxRowsPerSlice / samplesInSlot
}

export class FiveMinuteReader extends SlotReader implements SliceReader<StatisticsRow> {
  readonly #on: OrgReader
  readonly #columns: readonly SensorColumn[]

  constructor(on: OrgReader, columns: readonly SensorColumn[]) {
    super()
    this.#on = on
    this.#columns = columns
  }

  async read(selection: EndpointSelection, first: number, end: number): Promise<SliceResult<StatisticsRow>> {
    const sums = new Sums(this.#columns, first, end)
    let rows = 0
    for await (const endpoints of inTurns(selection.endpoints, this.endpointsPerQuery)) {
      for (const row of await listSums(this.#on, this.#columns, { ...selection, endpoints }, numbersFrom(first, end))) {
        rows += row.samples
        sums.add(row.slot, row)
      }
    }
    return { items: sums.filled(), rows }
  }
}

export interface RawWindow {
  readonly from: number
  readonly to: number
  /** At `from` itself, only samples of endpoints from this number on count. */
  readonly endpoint: number
}

export class RawReader extends SlotReader implements SliceReader<RawRow> {
  readonly #on: OrgReader
  readonly #columns: readonly SensorColumn[]
  readonly #window: RawWindow

  constructor(on: OrgReader, columns: readonly SensorColumn[], window: RawWindow) {
    super()
    this.#on = on
    this.#columns = columns
    this.#window = window
  }

  async read(selection: EndpointSelection, first: number, end: number): Promise<SliceResult<RawRow>> {
    const { from, endpoint } = this.#window
    const all: RawRow[] = []
    for await (const endpoints of inTurns(selection.endpoints, this.endpointsPerQuery)) {
      const rows = await listRaw(
        this.#on,
        this.#columns,
        { ...selection, endpoints },
        numbersFrom(first, end),
        this.#window,
      )
      for (const row of rows) all.push(row)
    }
    const items = all
      .filter((row) => row.timestamp > from || row.endpoint >= endpoint)
      .filter((row) => this.#columns.some((column) => row[column] !== null))
      .sort((a, b) => a.timestamp - b.timestamp || a.endpoint - b.endpoint)
    return { items, rows: all.length }
  }
}
