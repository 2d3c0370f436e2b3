// The incidents that each channel was told about, and the content of messages at their first attempt.
import type { MigrationStatements } from './dialect.ts'

export const announcedIncidents: MigrationStatements = (dialect) => [
  // A message about an incident shows it as it is at the first attempt. Both columns are null while the message is sent as it was written.
  'ALTER TABLE deliveries ADD COLUMN type text',
  'ALTER TABLE deliveries ADD COLUMN data text',
  // `message` announced the incident to the channel: an opening or a digest. It outlives that message, which is deleted after 30 days.
  `CREATE TABLE announced_incidents (
    org integer NOT NULL,
    channel_id integer NOT NULL,
    incident_id integer NOT NULL,
    message integer NOT NULL,
    size integer NOT NULL,
    has_grown integer NOT NULL,
    PRIMARY KEY (org, channel_id, incident_id),
    FOREIGN KEY (org, channel_id) REFERENCES channels (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, incident_id) REFERENCES incidents (org, id) ON DELETE CASCADE
)${dialect.strictWithoutRowId}`,
  'CREATE INDEX announced_incidents_incident ON announced_incidents (org, incident_id)',
  // Channels know the incidents that are open now, unless their openings still wait. A digest that waits can have any of them.
  `INSERT INTO announced_incidents (org, channel_id, incident_id, message, size, has_grown)
    SELECT c.org, c.id, i.id,
      coalesce((SELECT max(d.message) FROM deliveries d JOIN messages m ON m.number = d.message
        WHERE d.org = c.org AND d.channel_id = c.id AND d.state = 'WAITING' AND m.type = 'incident.digest'), 0),
      (SELECT count(*) FROM incident_subjects s WHERE s.org = i.org AND s.incident_id = i.id AND s.ended_at IS NULL), 0
    FROM channels c JOIN incidents i ON i.org = c.org
    WHERE i.state IN ('OPEN', 'ACKNOWLEDGED') AND NOT EXISTS (
      SELECT 1 FROM messages m JOIN deliveries d ON d.message = m.number
      WHERE m.org = c.org AND m.order_key = 'incident ' || i.id AND m.type = 'incident.opened'
      AND d.org = c.org AND d.channel_id = c.id AND d.state = 'WAITING' AND d.sequence IS NULL)`,
]
