// Indexes that keep reads as cheap with 100,000 endpoints as with a hundred, and statistics about them for SQLite's planner.
import type { MigrationStatements } from './dialect.ts'

/**
 * SQLite collects no statistics by itself. Without them it assumes ten rows for an organisation, and would scan all its endpoints
 * to list those of one room in order, or of one pair group. These numbers describe an organisation with 100,000 endpoints: rows,
 * then how many share the first column of the index, the first two, and so on. https://sqlite.org/fileformat2.html#stat1tab
 */
const indexStatistics: readonly (readonly [table: string, index: string, rows: string])[] = [
  ['endpoints', 'sqlite_autoindex_endpoints_1', '100000 100000 1'],
  ['endpoints', 'sqlite_autoindex_endpoints_2', '100000 100000 1'],
  ['endpoints', 'endpoints_number', '100000 100000 1'],
  ['endpoints', 'endpoints_room', '100000 100000 5 1'],
  ['endpoints', 'endpoints_profile', '100000 100000 1000'],
  ['endpoints', 'endpoints_leader', '100000 100000 2'],
  ['endpoint_configs', 'sqlite_autoindex_endpoint_configs_1', '100000 100000 1'],
  ['endpoint_configs', 'endpoint_configs_open', '100 100 1'],
  ['rooms', 'sqlite_autoindex_rooms_1', '20000 20000 1'],
  ['rooms', 'rooms_location', '20000 20000 100'],
  ['rooms', 'rooms_profile', '20000 20000 1000'],
  ['locations', 'sqlite_autoindex_locations_1', '1000 1000 1'],
  ['locations', 'locations_region', '1000 1000 20'],
]

export const growth: MigrationStatements = ({ engine }) => [
  'DROP INDEX endpoints_room',
  'CREATE INDEX endpoints_room ON endpoints (org, room_id, id)',
  `CREATE INDEX endpoint_configs_open ON endpoint_configs (org, endpoint_id)
    WHERE state = 'PENDING' OR reported_version <> version`,
  ...(engine === 'sqlite' ? storeIndexStatistics : []),
]

const storeIndexStatistics = [
  // The first ANALYZE creates the table sqlite_stat1, the second one makes SQLite read its rows.
  'ANALYZE sqlite_schema',
  `DELETE FROM sqlite_stat1 WHERE tbl IN ('endpoints', 'endpoint_configs', 'rooms', 'locations')`,
  `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ${indexStatistics.map((row) => `('${row.join("', '")}')`).join(', ')}`,
  'ANALYZE sqlite_schema',
]
