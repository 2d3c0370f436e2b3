// The sensors that a device names, and the sensors of which it has ever sent a number. [contract 5.1.models]
import type { MigrationStatements } from './dialect.ts'

/** The bit of each column of a sample in a set of sensors. */
const bits = { co2: 1, humidity: 2, illumination: 4, people: 8, temp: 16, voc: 32, voc_index: 64 }

const measured = Object.entries(bits)
  .map(([column, bit]) => `(CASE WHEN s.${column} IS NULL THEN 0 ELSE ${bit} END)`)
  .join(' + ')

export const measuredSensors: MigrationStatements = () => [
  'ALTER TABLE endpoints ADD COLUMN sensors_named INTEGER',
  'ALTER TABLE endpoints ADD COLUMN sensors_measured INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE endpoints ADD COLUMN presence_only INTEGER NOT NULL DEFAULT 0',
  // The latest sample counts for the time before. A device may have sent other values earlier; they are noted when they come again.
  `UPDATE endpoints SET sensors_measured = coalesce((SELECT ${measured} FROM samples_latest AS s
    WHERE s.org = endpoints.org AND s.endpoint = endpoints.number), 0)`,
]
