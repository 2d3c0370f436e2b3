// Saved views of lists. [contract 11.views]
import type { MigrationStatements } from './dialect.ts'

export const savedViews: MigrationStatements = (dialect) => [
  // A view belongs to a person or to a key, and goes with it. A shared view has neither, and outlives its author.
  `CREATE TABLE saved_views (
    org integer NOT NULL REFERENCES orgs (key),
    id integer NOT NULL,
    version integer NOT NULL,
    user_id integer,
    key_id integer,
    name text NOT NULL,
    page text NOT NULL,
    query text NOT NULL,
    columns text,
    author_type text NOT NULL,
    author_id text NOT NULL,
    author_name text NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, user_id) REFERENCES users (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, key_id) REFERENCES api_keys (org, id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX saved_views_user ON saved_views (org, user_id)',
  'CREATE INDEX saved_views_key ON saved_views (org, key_id)',
]
