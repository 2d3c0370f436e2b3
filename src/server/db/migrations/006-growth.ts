// What keeps reads as cheap with 100,000 endpoints as with a hundred: indexes, and for SQLite how many rows each of them finds.

/**
 * SQLite counts nothing by itself and takes all of an organisation for ten rows, so it would walk through every endpoint to have those of
 * one room in order, or of one group. This is an organisation with 100,000 endpoints: rows, then how many share the first column of
 * the index, the first two, and so on. https://sqlite.org/fileformat2.html#stat1tab
 */
const counts: readonly (readonly [table: string, index: string, rows: string])[] = [
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

export const growth = [
  'DROP INDEX endpoints_room',
  'CREATE INDEX endpoints_room ON endpoints (org, room_id, id)',
  `CREATE INDEX endpoint_configs_open ON endpoint_configs (org, endpoint_id)
    WHERE state = 'PENDING' OR reported_version <> version`,
  {
    sqlite: [
      // Makes the table, and after the rows reads them.
      'ANALYZE sqlite_schema',
      `DELETE FROM sqlite_stat1 WHERE tbl IN ('endpoints', 'endpoint_configs', 'rooms', 'locations')`,
      `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ${counts.map((row) => `('${row.join("', '")}')`).join(', ')}`,
      'ANALYZE sqlite_schema',
    ],
  },
]
