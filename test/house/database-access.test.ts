// Tests of which file writes which table, opens which transaction and reaches beyond one organisation.
import { expect, test } from 'vitest'
import { areaOf, nounOf, type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

test('a noun writes only its own tables', () => {
  // The one exception writes the tables of several nouns, and only their version column.
  const versions = 'server/resources/places/versions.ts'
  const { text } = files.find((f) => f.path === versions) as SourceFile
  expect(text).not.toMatch(/\b(?:insertInto|deleteFrom|insertMany)\(/)
  const assignments = [...text.matchAll(/\.set\(.*/g)].map((m) => m[0])
  expect(new Set(assignments)).toEqual(new Set([".set((e) => ({ version: e('version', '+', 1) }))"]))
  const owners: Record<string, readonly string[]> = {
    audit: ['audit_log', 'audit_heads'],
    'bug-reports': ['bug_reports', 'bug_report_items', 'bundle_uploads', 'bundle_chunks'],
    channels: ['channels', 'messages', 'new_messages', 'deliveries', 'announced_incidents'],
    configs: ['endpoint_configs', 'config_versions'],
    connections: ['connection_spans'],
    endpoints: ['endpoints', 'endpoint_rooms', 'credential_directory', 'past_credentials', 'serial_directory'],
    identity: ['identity_providers'],
    'incident-rules': ['incident_rules'],
    incidents: [
      'incidents',
      'incident_subjects',
      'incident_timeline',
      'incident_progress',
      'findings',
      'credential_attempts',
    ],
    jobs: ['jobs', 'job_units', 'job_unit_rooms', 'job_endpoints', 'job_moves'],
    keys: ['api_keys', 'key_directory', 'key_regions'],
    locations: ['locations'],
    notes: ['room_notes'],
    commands: ['operations'],
    orgs: ['orgs'],
    profiles: ['profiles', 'profile_versions'],
    regions: ['regions'],
    rooms: ['rooms', 'dec_directory', 'dec_past'],
    sensors: [
      'samples',
      'samples_latest',
      'sample_quarters',
      'sample_hours',
      'sample_days',
      'sample_due',
      'sample_progress',
    ],
    sessions: ['sessions', 'login_links', 'user_sessions', 'user_links', 'sign_in_refusals'],
    silences: ['silences'],
    'sign-in': ['passkeys', 'passkey_challenges'],
    settings: ['settings'],
    // Unlinking a user removes what the sign-in has stored for them.
    users: ['users', 'user_regions', 'user_identities', 'passkeys'],
  }
  const wrong = files
    .filter((f) => areaOf(f.path) === 'server/resources' && f.path !== versions)
    .flatMap(({ path, text }) => {
      const owner = nounOf(path)
      const written = [...text.matchAll(/\b(?:insertInto|updateTable|deleteFrom|insertMany)\(\s*'(\w+)'/g)].map(
        (m) => m[1] as string,
      )
      return written.filter((table) => !owners[owner]?.includes(table)).map((table) => `${path} writes ${table}`)
    })
  expect(wrong).toEqual([])
})

test('only change() opens an audited transaction, and only the named ones open an unaudited one', () => {
  const users = (pattern: RegExp) =>
    files
      .filter((f) => pattern.test(f.text))
      .map((f) => f.path)
      .sort()
  expect(users(/\bdb\.transaction\(\s*async/)).toEqual(['server/resources/audit/change.ts'])
  expect(users(/\.telemetry\(/)).toEqual([
    'server/resources/bug-reports/bundles/move.ts',
    'server/resources/bug-reports/upload.ts',
    'server/resources/channels/delivery/batch.ts',
    'server/resources/channels/delivery/clock-repair.ts',
    'server/resources/channels/delivery/holding/heartbeat.ts',
    'server/resources/channels/delivery/record-outcome.ts',
    'server/resources/channels/release-waiting.ts',
    'server/resources/commands/deferred/deferred-reboots.ts',
    'server/resources/commands/progress.ts',
    'server/resources/configs/reported.ts',
    'server/resources/endpoints/ended-nodes.ts',
    'server/resources/endpoints/presence.ts',
    'server/resources/incidents/credentials/attempts.ts',
    'server/resources/incidents/engine/engine.ts',
    'server/resources/jobs/engine/rollback/advance-rollback.ts',
    'server/resources/jobs/engine/rollback/roll-back-endpoint.ts',
    'server/resources/jobs/engine/rollback/roll-back-moves.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sensors/rollups/roll-up.ts',
  ])
  expect(users(/\.bulkTransaction\(/)).toEqual([
    'server/resources/bug-reports/bundles/folder-storage.ts',
    'server/resources/bug-reports/bundles/move.ts',
    'server/resources/bug-reports/bundles/row-storage.ts',
    'server/resources/bug-reports/upload.ts',
    'server/resources/incidents/engine/engine.ts',
    'server/resources/jobs/engine/apply.ts',
    'server/resources/jobs/engine/rollback/advance-rollback.ts',
    'server/resources/jobs/engine/send.ts',
  ])
  expect(users(/\.systemTransaction\(/)).toEqual([
    'server/db/copied-mark.ts',
    'server/db/database-secrets.ts',
    'server/db/disk-probe.ts',
    'server/nodes/certificate-expiry.ts',
    'server/nodes/single-node.ts',
    'server/nodes/task-holders.ts',
    'server/resources/audit/change.ts',
    'server/resources/bug-reports/retention.ts',
    'server/resources/channels/delivery/retention.ts',
    'server/resources/commands/retention.ts',
    'server/resources/connections/retention.ts',
    'server/resources/endpoints/ended-nodes.ts',
    'server/resources/endpoints/past-credentials.ts',
    'server/resources/incidents/credentials/attempts.ts',
    'server/resources/incidents/retention.ts',
    'server/resources/jobs/retention.ts',
    'server/resources/sensors/ingest/intake.ts',
    'server/resources/sensors/rollups/horizon.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sessions/retention.ts',
    'server/resources/settings/stored-settings.ts',
    'server/resources/sign-in/oidc/session-check.ts',
    'server/resources/sign-in/passkey-host.ts',
    'server/resources/sign-in/retention.ts',
  ])
  expect(users(/\.separateTransaction\(/)).toEqual(['server/resources/keys/last-used.ts'])
  expect(users(/\.alterTable\(/)).toEqual(['server/resources/sensors/rollups/partitions.ts'])
  expect(users(/new Tx\(/)).toEqual(['server/db/org-database.ts', 'server/db/system.ts'])
})

test('only the files that look up keys, sessions, devices and codes, and scheduled tasks, reach beyond one organisation', () => {
  const importers = files.filter((f) => f.imports.includes('server/db/system.ts')).map((f) => f.path)
  expect(importers.sort()).toEqual([
    'server/db/copied-mark.ts',
    'server/db/database-secrets.ts',
    'server/db/db.ts',
    'server/db/disk-probe.ts',
    'server/db/queries/insert-many.ts',
    'server/nodes/node-list.ts',
    'server/nodes/reconnect-times.ts',
    'server/nodes/store.ts',
    'server/nodes/strict-reads/last-commits.ts',
    'server/nodes/task-store.ts',
    'server/resources/audit/change.ts',
    'server/resources/bug-reports/bundles/store.ts',
    'server/resources/bug-reports/store.ts',
    'server/resources/channels/delivery/all-messages-store.ts',
    'server/resources/commands/retention-store.ts',
    'server/resources/commands/sending-store.ts',
    'server/resources/commands/store.ts',
    'server/resources/configs/store.ts',
    'server/resources/connections/store.ts',
    'server/resources/endpoints/device-store.ts',
    'server/resources/endpoints/enrol.ts',
    'server/resources/endpoints/past-credential-store.ts',
    'server/resources/incidents/credentials/attempt-store.ts',
    'server/resources/incidents/engine/metrics-store.ts',
    'server/resources/incidents/engine/restarts/returning-devices.ts',
    'server/resources/incidents/retention-store.ts',
    'server/resources/jobs/retention-store.ts',
    'server/resources/keys/store.ts',
    'server/resources/orgs/store.ts',
    'server/resources/rooms/store.ts',
    'server/resources/sensors/ingest/store.ts',
    'server/resources/sensors/rollups/retention-store.ts',
    'server/resources/sessions/provider-session-store.ts',
    'server/resources/sessions/refusal-store.ts',
    'server/resources/sessions/store.ts',
    'server/resources/sessions/user-link-store.ts',
    'server/resources/sessions/user-session-store.ts',
    'server/resources/settings/store.ts',
    'server/resources/settings/stored-settings.ts',
    'server/resources/sign-in/passkey-store.ts',
    'server/resources/sign-in/provider-store.ts',
    'server/resources/silences/store.ts',
    'server/resources/users/store.ts',
  ])
})

test('a work in a transaction asks its own handle: the reader does not see what shares its commit', () => {
  const works = files
    .filter((f) => areaOf(f.path) === 'server/resources')
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\b(?:change|changeNewOrg|telemetry|transaction|systemTransaction)\((?=.*=>)/g)].map((m) => ({
        path,
        work: insideParentheses(text.slice(m.index)),
      })),
    )
  expect(works.length).toBeGreaterThan(30)
  const wrong = works.filter(({ work }) => /\bdb\b/.test(work)).map(({ path, work }) => `${path}: ${work}`)
  expect(wrong).toEqual([])
})

function insideParentheses(text: string): string {
  let depth = 0
  for (const [i, character] of [...text].entries()) {
    if (character === '(') depth++
    if (character === ')' && --depth === 0) return text.slice(0, i)
  }
  return text
}

test('only the named files read the rows of all regions; everything that a caller is answered goes through visibleQuery()', () => {
  const users = files.filter(({ text }) => /\bwholeQuery(?:One|Exists)?[<(]/.test(text)).map(({ path }) => path)
  expect(users.filter((path) => !path.startsWith('server/db/')).sort()).toEqual([
    'server/resources/bug-reports/bundles/store.ts',
    'server/resources/bug-reports/store.ts',
    'server/resources/channels/delivery/holding/opening-store.ts',
    'server/resources/channels/message-store.ts',
    'server/resources/commands/deferred/deferred-store.ts',
    'server/resources/commands/sending-store.ts',
    'server/resources/commands/store.ts',
    'server/resources/endpoints/device-store.ts',
    'server/resources/endpoints/store.ts',
    'server/resources/incidents/credentials/attempt-store.ts',
    'server/resources/incidents/engine/engine-store.ts',
    'server/resources/incidents/engine/observations/config-store.ts',
    'server/resources/incidents/engine/observations/endpoint-store.ts',
    'server/resources/incidents/engine/observations/flapping-store.ts',
    'server/resources/incidents/engine/observations/job-store.ts',
    'server/resources/incidents/engine/structure-store.ts',
    'server/resources/incidents/store.ts',
    'server/resources/jobs/engine/actor-store.ts',
    'server/resources/jobs/engine/facts-store.ts',
    'server/resources/jobs/engine/health/health-store.ts',
    'server/resources/jobs/engine/rollback/move-store.ts',
    'server/resources/jobs/engine/rollback/rollback-store.ts',
    'server/resources/jobs/plan/plan-store.ts',
    'server/resources/jobs/store.ts',
    'server/resources/jobs/units/target-store.ts',
    'server/resources/jobs/units/unit-count-store.ts',
    'server/resources/jobs/units/unit-store.ts',
    'server/resources/places/store.ts',
    'server/resources/profiles/store.ts',
    'server/resources/regions/store.ts',
    'server/resources/rooms/store.ts',
    'server/resources/rooms/use/store.ts',
    'server/resources/sensors/history/store.ts',
    'server/resources/sensors/latest/store.ts',
    'server/resources/sensors/rollups/retention-store.ts',
    'server/resources/sessions/user-link-store.ts',
    'server/resources/sessions/user-session-store.ts',
    'server/resources/silences/store.ts',
    'server/resources/users/identity-store.ts',
    'server/resources/users/store.ts',
  ])
})
