// Writes the items of a history as JSON and CSV.
import { csvRow } from '../../../contract/csv.ts'
import { isoTime } from '../../core/clock.ts'
import type { PagePosition } from '../../core/page-token.ts'
import type { SlotScale } from '../../core/time/slots.ts'
import { dateOf } from '../../core/time/time-zone.ts'
import { meanText, scaledText, slotTimeWriter, wholeText } from '../json-writer.ts'
import { scale } from '../scale.ts'
import type { RawRow, StatisticsRow } from './store.ts'
import { namesOf } from './sums.ts'
import type { HistoryField } from './window.ts'

/** Writes items of a history, and gives the position at which paging continues with one. */
export interface HistoryView<T> {
  readonly key: 'buckets' | 'samples'
  json(item: T): string
  readonly csvHeader: string
  csv(item: T): string
  position(item: T): PagePosition
}

export function bucketView(
  fields: readonly HistoryField[],
  buckets: SlotScale,
  isDaily: boolean,
): HistoryView<StatisticsRow> {
  const columns = fields.map(({ name, column }) => ({
    ...namesOf(column),
    scale: scale[name],
    key: `,"${name}":{"min":`,
  }))
  const startText = isDaily ? (seconds: number) => isoTime(seconds * 1000) : slotTimeWriter()
  return {
    key: 'buckets',
    json(row) {
      let text = `{"start":"${startText(buckets.start(row.slot))}"`
      if (isDaily) text += `,"day":"${dateOf(row.slot)}"`
      for (const { count, min, max, sum, scale, key } of columns) {
        const n = row[count]
        if (n > 0) {
          text += `${key + scaledText(row[min] as number, scale)},"max":${scaledText(row[max] as number, scale)},"mean":${meanText(row[sum] as number, n, scale)},"count":${wholeText(n)}}`
        }
      }
      return `${text}}`
    },
    csvHeader: csvRow([
      'start',
      ...(isDaily ? ['day'] : []),
      ...fields.flatMap(({ name }) => ['min', 'max', 'mean', 'count'].map((what) => `${name}_${what}`)),
    ]),
    csv(row) {
      const cells = [startText(buckets.start(row.slot))]
      if (isDaily) cells.push(dateOf(row.slot))
      for (const { count, min, max, sum, scale } of columns) {
        const n = row[count]
        if (!(n > 0)) cells.push('', '', '', '')
        else {
          const [least, greatest] = [row[min] as number, row[max] as number]
          cells.push(scaledText(least, scale), scaledText(greatest, scale))
          cells.push(meanText(row[sum] as number, n, scale), wholeText(n))
        }
      }
      return csvRow(cells)
    },
    position: (row) => ({ timestamp: buckets.start(row.slot), seq: 0 }),
  }
}

/** `idOf` is given for a room, whose samples name their endpoint if the caller sees it. */
export function rawSampleView(
  fields: readonly HistoryField[],
  idOf: ((endpoint: number) => string | undefined) | undefined,
): HistoryView<RawRow> {
  const columns = fields.map(({ name, column }) => ({ column, scale: scale[name], key: `,"${name}":` }))
  return {
    key: 'samples',
    json(row) {
      let text = `{"timestamp":"${row.timestamp}"`
      const endpointId = idOf?.(row.endpoint)
      if (endpointId !== undefined) text += `,"endpointId":"${endpointId}"`
      for (const { column, scale, key } of columns) {
        const value = row[column]
        if (value !== null) text += key + scaledText(value, scale)
      }
      return `${text}}`
    },
    csvHeader: csvRow(['time', ...(idOf ? ['endpointId'] : []), ...fields.map(({ name }) => name)]),
    csv(row) {
      const cells = [isoTime(row.timestamp * 1000)]
      if (idOf) cells.push(idOf(row.endpoint) ?? '')
      for (const { column, scale } of columns) {
        const value = row[column]
        cells.push(value === null ? '' : scaledText(value, scale))
      }
      return csvRow(cells)
    },
    position: (row) => ({ timestamp: row.timestamp, seq: row.endpoint }),
  }
}
