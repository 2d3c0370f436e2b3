// An index of when incidents opened: a report reads those of its window, in short pieces. [contract 16.incidents]
import type { MigrationStatements } from './dialect.ts'

export const incidentsOpened: MigrationStatements = () => [
  'CREATE INDEX incidents_opened ON incidents (org, opened_at, id)',
]
