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
    'server/channels/delivery/channel-worker.ts',
    'server/channels/delivery/delivery-task.ts',
    'server/context/request-context.ts',
    'server/first-start.ts',
    'server/fleet/bug-reports/bundles/folder-storage.ts',
    'server/fleet/bug-reports/bundles/move.ts',
    'server/fleet/bug-reports/bundles/row-storage.ts',
    'server/fleet/bug-reports/retention.ts',
    'server/fleet/bug-reports/upload.ts',
    'server/fleet/commands/deferred/deferred-reboots.ts',
    'server/fleet/commands/progress.ts',
    'server/fleet/configs/reported.ts',
    'server/fleet/endpoints/ended-nodes.ts',
    'server/fleet/endpoints/endpoint-cache.ts',
    'server/fleet/endpoints/oversleep.ts',
    'server/fleet/endpoints/presence.ts',
    'server/fleet/gateways/device-list.ts',
    'server/fleet/gateways/states.ts',
    'server/fleet/gateways/tests.ts',
    'server/fleet/sources/reports.ts',
    'server/incidents/credentials/attempts.ts',
    'server/incidents/engine/engine.ts',
    'server/jobs/engine/actor.ts',
    'server/jobs/engine/apply.ts',
    'server/jobs/engine/engine.ts',
    'server/jobs/engine/send.ts',
    'server/jobs/recurring/task.ts',
    'server/journal/audit/change.ts',
    'server/people/sessions/browser-sessions.ts',
    'server/people/sessions/own-sessions.ts',
    'server/people/sessions/refusals.ts',
    'server/people/sign-in/oidc/routes.ts',
    'server/people/sign-in/oidc/session-check.ts',
    'server/people/sign-in/oidc/sign-in.ts',
    'server/people/sign-in/passkeys.ts',
    'server/reports/month-message/task.ts',
    'server/sensors/ingest/intake.ts',
    'server/sensors/latest/cache.ts',
    'server/sensors/latest/room-plan.ts',
    'server/sensors/rollups/retention.ts',
    'server/sensors/rollups/roll-up.ts',
  ])
})

test('only the named files use the handle without an organisation', () => {
  expect(using(/\.system\b/), advice).toEqual([
    'server/channels/delivery/waiting-count.ts',
    'server/first-start.ts',
    'server/fleet/bug-reports/retention.ts',
    'server/fleet/bug-reports/upload.ts',
    'server/fleet/commands/progress.ts',
    'server/fleet/configs/reported.ts',
    'server/fleet/endpoints/ended-nodes.ts',
    'server/fleet/endpoints/enrol.ts',
    'server/fleet/endpoints/past-credentials.ts',
    'server/fleet/endpoints/presence.ts',
    'server/incidents/credentials/attempts.ts',
    'server/incidents/engine/engine.ts',
    'server/incidents/engine/metrics.ts',
    'server/jobs/retention.ts',
    'server/journal/idempotency/retention.ts',
    'server/journal/orgs/rules.ts',
    'server/journal/settings/rules.ts',
    'server/journal/settings/stored-settings.ts',
    'server/people/sessions/browser-sessions.ts',
    'server/people/sessions/rules.ts',
    'server/people/sessions/user-links.ts',
    'server/people/sign-in/find-token-holder.ts',
    'server/people/sign-in/oidc/routes.ts',
    'server/people/sign-in/passkey-host.ts',
    'server/people/sign-in/passkey-sign-in.ts',
    'server/people/sign-in/passkeys.ts',
    'server/people/sign-in/ways.ts',
    'server/sensors/rollups/horizon.ts',
    'server/sensors/rollups/partitions.ts',
    'server/sensors/rollups/retention.ts',
    'server/sensors/rollups/roll-up.ts',
    'server/sensors/rollups/sample-deletion.ts',
  ])
})

test('stores declare statements with query() or systemQuery() instead of running Kysely', () => {
  // The handles of an organisation have no Kysely. Those of the system have one, and tests use it.
  expect(using(/\bkysely\b(?!')/), 'Declare the statement with query() or systemQuery().').toEqual([])
  expect(using(/\bCompiledQuery\b|\bexecuteQuery\b/), 'Declare the statement with query() or systemQuery().').toEqual(
    [],
  )
})
