// The names of all benches, in the order in which they run and are stored.

export const benchNames = [
  'reads',
  'people',
  'lists',
  'writes',
  'ingest',
  'messages',
  'connect',
  'reboot',
  'store',
  'bulk',
  'history',
  'start',
  'growth',
  'events',
  'postgres',
  'rates',
  'rollups',
  'nodes',
] as const
export type BenchName = (typeof benchNames)[number]
