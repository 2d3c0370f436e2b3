// An index of the texts that people wrote about incidents: they are found without reading whole timelines. [contract 10.states]
import type { MigrationStatements } from './dialect.ts'

export const incidentNotes: MigrationStatements = () => [
  // An outage has thousands of entries about devices, and few with a text.
  'CREATE INDEX incident_timeline_notes ON incident_timeline (org, incident_id, number) WHERE text IS NOT NULL',
]
