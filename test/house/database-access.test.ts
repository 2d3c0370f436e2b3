// Tests of which file writes which table, opens which transaction and reaches beyond one organisation.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { domainOf, type SourceFile, sourceFiles } from './source-files.ts'

const files = sourceFiles('src')

/** The tables that each folder writes. The most specific folder owns a file: `incidents/silences` before `incidents`. */
const owners: Record<string, readonly string[]> = {
  'journal/audit': ['audit_log', 'audit_heads'],
  'fleet/bug-reports': ['bug_reports', 'bug_report_items', 'bundle_uploads', 'bundle_chunks'],
  channels: ['channels', 'messages', 'deliveries', 'announced_incidents'],
  // The outbox inserts messages and deliveries; the channels' delivery updates and deletes them.
  'journal/outbox': ['messages', 'new_messages', 'deliveries', 'announced_incidents'],
  'fleet/configs': ['endpoint_configs', 'config_versions'],
  'fleet/connections': ['connection_spans'],
  'fleet/endpoints': ['endpoints', 'endpoint_rooms', 'credential_directory', 'past_credentials', 'serial_directory'],
  'fleet/former-places': ['deleted_rooms', 'former_change_windows'],
  'people/identity': ['identity_providers'],
  'incidents/incident-rules': ['incident_rules'],
  incidents: [
    'incidents',
    'incident_subjects',
    'incident_timeline',
    'incident_progress',
    'findings',
    'known_peripherals',
    'credential_attempts',
  ],
  jobs: [
    ...['jobs', 'job_units', 'job_unit_rooms', 'job_endpoints', 'job_moves'],
    ...['recurring_jobs', 'recurring_job_locations', 'recurring_job_runs'],
  ],
  'people/keys': ['api_keys', 'key_directory', 'key_regions'],
  'fleet/gateways': ['gateways', 'gateway_devices', 'gateway_tests'],
  'fleet/sources': [
    ...['sources', 'source_absences', 'former_source_absences', 'source_devices', 'source_things', 'source_links'],
  ],
  'fleet/locations': ['locations'],
  'fleet/notes': ['room_notes'],
  'fleet/commands': ['operations'],
  'journal/idempotency': ['idempotency_keys'],
  'journal/orgs': ['orgs'],
  'fleet/profiles': ['profiles', 'profile_versions'],
  'fleet/regions': ['regions'],
  'fleet/rooms': ['rooms', 'dec_directory', 'dec_past'],
  sensors: [
    'samples',
    'samples_latest',
    'sample_quarters',
    'sample_hours',
    'sample_days',
    'room_days',
    'sample_due',
    'sample_progress',
  ],
  'people/views': ['saved_views'],
  'people/sessions': ['sessions', 'login_links', 'user_sessions', 'user_links', 'sign_in_refusals'],
  'incidents/silences': ['silences'],
  'people/sign-in': ['passkeys', 'passkey_challenges'],
  'journal/settings': ['settings'],
  // Unlinking a user removes what the sign-in has stored for them.
  'people/users': ['users', 'user_regions', 'user_identities', 'passkeys'],
}

test('a folder of a domain writes only its own tables', () => {
  // The one exception writes the tables of several folders, and only their version column.
  const versions = 'server/journal/places/versions.ts'
  const { text } = files.find((f) => f.path === versions) as SourceFile
  expect(text).not.toMatch(/\b(?:insertInto|deleteFrom|insertMany)\(/)
  const assignments = [...text.matchAll(/\.set\(.*/g)].map((m) => m[0])
  expect(new Set(assignments)).toEqual(new Set([".set((e) => ({ version: e('version', '+', 1) }))"]))
  const wrong = files
    .filter((f) => domainOf(f.path) && f.path !== versions)
    .flatMap(({ path, text }) => {
      const [owner = ''] = Object.keys(owners)
        .filter((folder) => path.startsWith(`server/${folder}/`))
        .sort((a, b) => b.length - a.length)
      const written = [...text.matchAll(/\b(?:insertInto|updateTable|deleteFrom|insertMany)\(\s*'(\w+)'/g)].map(
        (m) => m[1] as string,
      )
      return written.filter((table) => !owners[owner]?.includes(table)).map((table) => `${path} writes ${table}`)
    })
  expect(wrong).toEqual([])
})

test('ARCHITECTURE.md names the tables of each domain on its screen', () => {
  const map = readFileSync(join(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8')
  const missing = Object.entries(owners).flatMap(([folder, tables]) => {
    const domain = folder.split('/')[0]
    const screen = map.split(`\n### ${domain}\n`)[1]?.split('\n##')[0] ?? ''
    // `new_messages` is a name inside of one statement.
    return tables
      .filter((table) => table !== 'new_messages' && !screen.includes(`\`${table}\``))
      .map((table) => `${domain}: ${table}`)
  })
  expect(missing).toEqual([])
})

test('only change() opens an audited transaction, and only the named ones open an unaudited one', () => {
  const users = (pattern: RegExp) =>
    files
      .filter((f) => pattern.test(f.text))
      .map((f) => f.path)
      .sort()
  expect(users(/\bdb\.transaction\(\s*async/)).toEqual(['server/journal/audit/change.ts'])
  expect(users(/\.telemetry\(/)).toEqual([
    'server/channels/delivery/batch.ts',
    'server/channels/delivery/clock-repair.ts',
    'server/channels/delivery/holding/heartbeat.ts',
    'server/channels/delivery/record-outcome.ts',
    'server/channels/release-waiting.ts',
    'server/fleet/bug-reports/bundles/move.ts',
    'server/fleet/bug-reports/upload.ts',
    'server/fleet/commands/deferred/deferred-reboots.ts',
    'server/fleet/commands/progress.ts',
    'server/fleet/configs/reported.ts',
    'server/fleet/endpoints/ended-nodes.ts',
    'server/fleet/endpoints/oversleep.ts',
    'server/fleet/endpoints/presence.ts',
    'server/fleet/gateways/states.ts',
    'server/fleet/gateways/tests.ts',
    'server/fleet/sources/reports.ts',
    'server/incidents/credentials/attempts.ts',
    'server/incidents/engine/engine.ts',
    'server/jobs/engine/rollback/advance-rollback.ts',
    'server/jobs/engine/rollback/roll-back-endpoint.ts',
    'server/jobs/engine/rollback/roll-back-moves.ts',
    'server/jobs/recurring/task.ts',
    'server/journal/idempotency/rules.ts',
    'server/reports/month-message/task.ts',
    'server/sensors/rollups/retention.ts',
    'server/sensors/rollups/roll-up.ts',
    'server/sensors/rollups/room-days.ts',
  ])
  expect(users(/\.bulkTransaction\(/)).toEqual([
    'server/fleet/bug-reports/bundles/folder-storage.ts',
    'server/fleet/bug-reports/bundles/move.ts',
    'server/fleet/bug-reports/bundles/row-storage.ts',
    'server/fleet/bug-reports/upload.ts',
    'server/incidents/engine/engine.ts',
    'server/jobs/engine/apply.ts',
    'server/jobs/engine/rollback/advance-rollback.ts',
    'server/jobs/engine/send.ts',
  ])
  expect(users(/\.systemTransaction\(/)).toEqual([
    'server/channels/delivery/retention.ts',
    'server/db/copied-mark.ts',
    'server/db/database-secrets.ts',
    'server/db/disk-probe.ts',
    'server/fleet/bug-reports/retention.ts',
    'server/fleet/commands/retention.ts',
    'server/fleet/connections/retention.ts',
    'server/fleet/endpoints/ended-nodes.ts',
    'server/fleet/endpoints/past-credentials.ts',
    'server/fleet/former-places/retention.ts',
    'server/fleet/gateways/retention.ts',
    'server/incidents/credentials/attempts.ts',
    'server/incidents/retention.ts',
    'server/jobs/retention.ts',
    'server/journal/audit/change.ts',
    'server/journal/idempotency/retention.ts',
    'server/journal/settings/stored-settings.ts',
    'server/nodes/certificate-expiry.ts',
    'server/nodes/grace-end.ts',
    'server/nodes/single-node.ts',
    'server/nodes/task-holders.ts',
    'server/people/sessions/retention.ts',
    'server/people/sign-in/oidc/session-check.ts',
    'server/people/sign-in/passkey-host.ts',
    'server/people/sign-in/retention.ts',
    'server/sensors/ingest/intake.ts',
    'server/sensors/rollups/horizon.ts',
    'server/sensors/rollups/retention.ts',
  ])
  expect(users(/\.separateTransaction\(/)).toEqual(['server/people/keys/last-used.ts'])
  expect(users(/\.alterTable\(/)).toEqual(['server/sensors/rollups/partitions.ts'])
  expect(users(/new Tx\(/)).toEqual(['server/db/org-database.ts', 'server/db/system.ts'])
})

test('only the files that look up keys, sessions, devices and codes, and scheduled tasks, reach beyond one organisation', () => {
  const importers = files.filter((f) => f.imports.includes('server/db/system.ts')).map((f) => f.path)
  expect(importers.sort()).toEqual([
    'server/channels/delivery/all-messages-store.ts',
    'server/db/copied-mark.ts',
    'server/db/database-secrets.ts',
    'server/db/db.ts',
    'server/db/disk-probe.ts',
    'server/db/queries/insert-many.ts',
    'server/fleet/bug-reports/bundles/store.ts',
    'server/fleet/bug-reports/store.ts',
    'server/fleet/commands/retention-store.ts',
    'server/fleet/commands/sending-store.ts',
    'server/fleet/commands/store.ts',
    'server/fleet/configs/store.ts',
    'server/fleet/connections/store.ts',
    'server/fleet/endpoints/device-store.ts',
    'server/fleet/endpoints/enrol.ts',
    'server/fleet/endpoints/past-credential-store.ts',
    'server/fleet/former-places/store.ts',
    'server/fleet/gateways/enrol.ts',
    'server/fleet/gateways/store.ts',
    'server/fleet/rooms/store.ts',
    'server/fleet/sources/absence-store.ts',
    'server/incidents/credentials/attempt-store.ts',
    'server/incidents/engine/metrics-store.ts',
    'server/incidents/engine/restarts/returning-devices.ts',
    'server/incidents/retention-store.ts',
    'server/incidents/silences/store.ts',
    'server/jobs/retention-store.ts',
    'server/journal/audit/change.ts',
    'server/journal/idempotency/store.ts',
    'server/journal/orgs/store.ts',
    'server/journal/settings/store.ts',
    'server/journal/settings/stored-settings.ts',
    'server/nodes/node-list.ts',
    'server/nodes/store.ts',
    'server/nodes/strict-reads/last-commits.ts',
    'server/nodes/task-store.ts',
    'server/people/keys/store.ts',
    'server/people/sessions/provider-session-store.ts',
    'server/people/sessions/refusal-store.ts',
    'server/people/sessions/store.ts',
    'server/people/sessions/user-link-store.ts',
    'server/people/sessions/user-session-store.ts',
    'server/people/sign-in/passkey-store.ts',
    'server/people/sign-in/provider-store.ts',
    'server/people/users/store.ts',
    'server/sensors/ingest/store.ts',
    'server/sensors/rollups/retention-store.ts',
    'server/sensors/rollups/room-days-store.ts',
  ])
})

test('a work in a transaction asks its own handle: the reader does not see what shares its commit', () => {
  const works = files
    .filter((f) => domainOf(f.path))
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
    'server/channels/delivery/holding/opening-store.ts',
    'server/fleet/bug-reports/bundles/store.ts',
    'server/fleet/bug-reports/store.ts',
    'server/fleet/commands/deferred/deferred-store.ts',
    'server/fleet/commands/sending-store.ts',
    'server/fleet/commands/store.ts',
    'server/fleet/connections/gateway-store.ts',
    'server/fleet/connections/store.ts',
    'server/fleet/endpoints/device-store.ts',
    'server/fleet/endpoints/store.ts',
    'server/fleet/external-ids.ts',
    'server/fleet/gateways/store.ts',
    'server/fleet/profiles/store.ts',
    'server/fleet/regions/store.ts',
    'server/fleet/rooms/store.ts',
    'server/fleet/rooms/use/store.ts',
    'server/fleet/sources/store.ts',
    'server/fleet/sources/structure-store.ts',
    'server/incidents/credentials/attempt-store.ts',
    'server/incidents/engine/engine-store.ts',
    'server/incidents/engine/observations/config-store.ts',
    'server/incidents/engine/observations/endpoint-store.ts',
    'server/incidents/engine/observations/flapping-store.ts',
    'server/incidents/engine/observations/gateway-store.ts',
    'server/incidents/engine/observations/job-store.ts',
    'server/incidents/engine/observations/peripheral-store.ts',
    'server/incidents/engine/restarts/settle-store.ts',
    'server/incidents/engine/structure-store.ts',
    'server/incidents/silences/store.ts',
    'server/incidents/store.ts',
    'server/jobs/engine/actor-store.ts',
    'server/jobs/engine/facts-store.ts',
    'server/jobs/engine/health/health-store.ts',
    'server/jobs/engine/rollback/move-store.ts',
    'server/jobs/engine/rollback/rollback-store.ts',
    'server/jobs/plan/plan-store.ts',
    'server/jobs/recurring/store.ts',
    'server/jobs/store.ts',
    'server/jobs/units/target-store.ts',
    'server/jobs/units/unit-count-store.ts',
    'server/jobs/units/unit-store.ts',
    'server/journal/outbox/message-store.ts',
    'server/journal/places/store.ts',
    'server/people/sessions/user-link-store.ts',
    'server/people/sessions/user-session-store.ts',
    'server/people/users/identity-store.ts',
    'server/people/users/store.ts',
    'server/reports/availability/past-store.ts',
    'server/reports/incidents/store.ts',
    'server/reports/last-day/store.ts',
    'server/reports/quarters-store.ts',
    'server/sensors/history/store.ts',
    'server/sensors/latest/store.ts',
    'server/sensors/rollups/retention-store.ts',
    'server/sensors/rollups/room-days-store.ts',
  ])
})
