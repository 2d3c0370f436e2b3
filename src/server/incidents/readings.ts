// Lists the values that opened an incident, with their limits, from the details that the engine stores. [contract 10.states]
import { type Reading, type ReadingName, readingUnit } from '../../contract/incidents/readings.ts'
import type { FindingDetail } from './engine/types.ts'

/** Incidents of version 0.2.0 and before have no values of the air, and no limit of the storage. */
export function readingsOf({
  readings = [],
  people,
  capacity,
  freePercent,
  opensBelowPercent,
}: FindingDetail): Reading[] {
  return [
    ...readings.map((reading) => ({ ...reading, unit: readingUnit(reading.name) })),
    ...readingOf('people', people, { max: capacity }),
    ...readingOf('freeStorage', freePercent, { min: opensBelowPercent }),
  ]
}

function readingOf(name: ReadingName, value: unknown, { min, max }: { min?: unknown; max?: unknown }): Reading[] {
  if (typeof value !== 'number') return []
  const limits = { ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) }
  return [{ name, value, unit: readingUnit(name), ...limits }]
}
