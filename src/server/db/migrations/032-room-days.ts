// Rollups of rooms: the values of 96 quarters of an hour in one row for each room and day, which reports read. [contract 10.past]
import type { MigrationStatements } from './dialect.ts'

export const roomDays: MigrationStatements = (dialect) => [
  // A day is one of UTC, so that the row fits every time zone. sensors/rollups/quarter-values.ts reads the bytes; null without a value.
  `CREATE TABLE room_days (
    org integer NOT NULL,
    room integer NOT NULL,
    day integer NOT NULL,
    people ${dialect.bytes},
    co2 ${dialect.bytes},
    humidity ${dialect.bytes},
    temp ${dialect.bytes},
    voc ${dialect.bytes},
    voc_index ${dialect.bytes},
    PRIMARY KEY (org, room, day)
)${dialect.strict}`,
  'CREATE INDEX room_days_day ON room_days (day)',
  // All days from this one on have their rows; null before the first of them was made, and 0 when all are.
  'ALTER TABLE sample_progress ADD COLUMN room_days_from integer',
]
