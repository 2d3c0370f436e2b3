// Uploads of log bundles. On PostgreSQL their content is in the database, so that every node can serve it.
import type { MigrationStatements } from './dialect.ts'

export const bundles: MigrationStatements = (dialect) => [
  // Which upload counts. It is null for bundles that were uploaded before, which lie in a folder under the name in `file`.
  'ALTER TABLE bug_report_items ADD COLUMN upload_id text',
  `CREATE TABLE bundle_uploads (
    org integer NOT NULL,
    id text NOT NULL,
    report_id text NOT NULL,
    endpoint_id text NOT NULL,
    bytes ${dialect.bigint} NOT NULL,
    started_at ${dialect.bigint} NOT NULL,
    PRIMARY KEY (org, id),
    FOREIGN KEY (org, report_id, endpoint_id) REFERENCES bug_report_items (org, report_id, endpoint_id) ON DELETE CASCADE
)${dialect.strict}`,
  'CREATE INDEX bundle_uploads_item ON bundle_uploads (org, report_id, endpoint_id)',
  ...(dialect.engine === 'sqlite'
    ? []
    : [
        `CREATE TABLE bundle_chunks (
    org integer NOT NULL,
    upload_id text NOT NULL,
    seq integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (org, upload_id, seq),
    FOREIGN KEY (org, upload_id) REFERENCES bundle_uploads (org, id) ON DELETE CASCADE
)`,
        // A bundle is compressed already.
        'ALTER TABLE bundle_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL',
      ]),
]
