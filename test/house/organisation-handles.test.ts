// Tests which files choose an organisation themselves, or use the handle that is not bound to one. Rules get the handle of the caller's organisation.
import { expect, test } from 'vitest'
import { areaOf, sourceFiles } from './source-files.ts'

/** Commands, phases and these folders work on the whole database. */
const wholeDatabase = new Set(['cli', 'server/db', 'server/maintenance', 'server/nodes', 'server/phases'])

const files = sourceFiles('src').filter(({ path }) => !wholeDatabase.has(areaOf(path)))
const using = (pattern: RegExp) =>
  files
    .filter(({ text }) => pattern.test(text))
    .map(({ path }) => path)
    .sort()

const advice =
  'Use ctx.db in a rule. This list is for work without a request context: devices, caches, sign-in, scheduled tasks, the command line.'

test('only the named files choose the organisation that they read', () => {
  expect(using(/\.forOrg\(/), advice).toEqual([
    'server/context/request-context.ts',
    'server/first-start.ts',
    'server/resources/audit/change.ts',
    'server/resources/bug-reports/bundles/folder-storage.ts',
    'server/resources/bug-reports/bundles/move.ts',
    'server/resources/bug-reports/bundles/row-storage.ts',
    'server/resources/bug-reports/retention.ts',
    'server/resources/bug-reports/upload.ts',
    'server/resources/channels/delivery/channel-worker.ts',
    'server/resources/channels/delivery/delivery-task.ts',
    'server/resources/commands/deferred/deferred-reboots.ts',
    'server/resources/commands/progress.ts',
    'server/resources/configs/reported.ts',
    'server/resources/endpoints/ended-nodes.ts',
    'server/resources/endpoints/endpoint-cache.ts',
    'server/resources/endpoints/presence.ts',
    'server/resources/incidents/credentials/attempts.ts',
    'server/resources/incidents/engine/engine.ts',
    'server/resources/jobs/engine/actor.ts',
    'server/resources/jobs/engine/apply.ts',
    'server/resources/jobs/engine/engine.ts',
    'server/resources/jobs/engine/send.ts',
    'server/resources/sensors/ingest/intake.ts',
    'server/resources/sensors/latest/cache.ts',
    'server/resources/sensors/latest/room-plan.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sensors/rollups/roll-up.ts',
    'server/resources/sessions/browser-sessions.ts',
    'server/resources/sessions/own-sessions.ts',
    'server/resources/sessions/refusals.ts',
    'server/resources/sign-in/oidc/routes.ts',
    'server/resources/sign-in/oidc/session-check.ts',
    'server/resources/sign-in/oidc/sign-in.ts',
    'server/resources/sign-in/passkeys.ts',
  ])
})

test('only the named files use the handle without an organisation', () => {
  expect(using(/\.system\b/), advice).toEqual([
    'server/first-start.ts',
    'server/resources/bug-reports/retention.ts',
    'server/resources/bug-reports/upload.ts',
    'server/resources/channels/delivery/waiting-count.ts',
    'server/resources/commands/progress.ts',
    'server/resources/configs/reported.ts',
    'server/resources/endpoints/ended-nodes.ts',
    'server/resources/endpoints/enrol.ts',
    'server/resources/endpoints/past-credentials.ts',
    'server/resources/endpoints/presence.ts',
    'server/resources/incidents/credentials/attempts.ts',
    'server/resources/incidents/engine/engine.ts',
    'server/resources/incidents/engine/metrics.ts',
    'server/resources/jobs/retention.ts',
    'server/resources/orgs/rules.ts',
    'server/resources/sensors/rollups/horizon.ts',
    'server/resources/sensors/rollups/partitions.ts',
    'server/resources/sensors/rollups/retention.ts',
    'server/resources/sensors/rollups/roll-up.ts',
    'server/resources/sensors/rollups/sample-deletion.ts',
    'server/resources/sessions/browser-sessions.ts',
    'server/resources/sessions/rules.ts',
    'server/resources/sessions/user-links.ts',
    'server/resources/settings/rules.ts',
    'server/resources/settings/stored-settings.ts',
    'server/resources/sign-in/find-token-holder.ts',
    'server/resources/sign-in/oidc/routes.ts',
    'server/resources/sign-in/passkey-host.ts',
    'server/resources/sign-in/passkey-sign-in.ts',
    'server/resources/sign-in/passkeys.ts',
    'server/resources/sign-in/ways.ts',
  ])
})

test('stores declare statements with query() or systemQuery() instead of running Kysely', () => {
  // The handles of an organisation have no Kysely. Those of the system have one, and tests use it.
  expect(using(/\bkysely\b(?!')/), 'Declare the statement with query() or systemQuery().').toEqual([])
  expect(using(/\bCompiledQuery\b|\bexecuteQuery\b/), 'Declare the statement with query() or systemQuery().').toEqual(
    [],
  )
})
