// Brings a database to this program's schema: forward only, at start or by `roomkeeper migrate`.

import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { StartupError } from '../core/failure.ts'
import type { Database } from './db.ts'
import { databaseProblemOf } from './errors.ts'
import { initial } from './migrations/001-initial.ts'
import { devices } from './migrations/002-devices.ts'
import { samples } from './migrations/003-samples.ts'
import { history } from './migrations/004-history.ts'
import { consoleSessions } from './migrations/005-console.ts'
import { growth } from './migrations/006-growth.ts'
import { pastCredentials } from './migrations/007-past-credentials.ts'
import { nodes } from './migrations/008-nodes.ts'
import { tasks } from './migrations/009-tasks.ts'
import { bundles } from './migrations/010-bundles.ts'
import { people } from './migrations/011-people.ts'
import { incidents } from './migrations/012-incidents.ts'
import { jobs } from './migrations/013-jobs.ts'
import { nodeCertificates } from './migrations/014-node-certificates.ts'
import { organisations } from './migrations/015-organisations.ts'
import { announcedIncidents } from './migrations/016-messages.ts'
import { moves } from './migrations/017-moves.ts'
import { presence } from './migrations/018-presence.ts'
import { readings } from './migrations/019-readings.ts'
import { deviceNames } from './migrations/020-device-names.ts'
import { measuredSensors } from './migrations/021-sensors.ts'
import { sleepAndGateways } from './migrations/022-sleep-and-gateways.ts'
import { power } from './migrations/023-power.ts'
import { knownPeripherals } from './migrations/024-peripherals.ts'
import { gateways } from './migrations/025-gateways.ts'
import { customFields } from './migrations/026-custom-fields.ts'
import { idempotencyKeys } from './migrations/027-idempotency-keys.ts'
import { nodeSeen } from './migrations/028-node-seen.ts'
import { sources } from './migrations/029-sources.ts'
import { itemTargets } from './migrations/030-item-targets.ts'
import { reportHistory } from './migrations/031-report-history.ts'
import { roomDays } from './migrations/032-room-days.ts'
import { availabilityTarget } from './migrations/033-availability-target.ts'
import { formerAbsences } from './migrations/035-former-absences.ts'
import { savedViews } from './migrations/036-saved-views.ts'
import { unitFailures } from './migrations/037-unit-failures.ts'
import { incidentNotes } from './migrations/038-incident-notes.ts'
import { recurringJobs } from './migrations/045-recurring-jobs.ts'
import { incidentsOpened } from './migrations/046-incidents-opened.ts'
import { dialects, type MigrationStatements } from './migrations/dialect.ts'

/** Databases store these names (also `001-ground`, whose file has another name today), and the order is fixed. A migration that was released is never edited. */
const migrations: Readonly<Record<string, MigrationStatements>> = {
  '001-ground': initial,
  '002-devices': devices,
  '003-samples': samples,
  '004-history': history,
  '005-console': consoleSessions,
  '006-growth': growth,
  '007-past-credentials': pastCredentials,
  '008-nodes': nodes,
  '009-tasks': tasks,
  '010-bundles': bundles,
  '011-people': people,
  '012-incidents': incidents,
  '013-jobs': jobs,
  '014-node-certificates': nodeCertificates,
  '015-organisations': organisations,
  '016-messages': announcedIncidents,
  '017-moves': moves,
  '018-presence': presence,
  '019-readings': readings,
  '020-device-names': deviceNames,
  '021-sensors': measuredSensors,
  '022-sleep-and-gateways': sleepAndGateways,
  '023-power': power,
  '024-peripherals': knownPeripherals,
  '025-gateways': gateways,
  '026-custom-fields': customFields,
  '027-idempotency-keys': idempotencyKeys,
  '028-node-seen': nodeSeen,
  '029-sources': sources,
  '030-item-targets': itemTargets,
  '031-report-history': reportHistory,
  '032-room-days': roomDays,
  '033-availability-target': availabilityTarget,
  '035-former-absences': formerAbsences,
  '036-saved-views': savedViews,
  '037-unit-failures': unitFailures,
  '038-incident-notes': incidentNotes,
  '045-recurring-jobs': recurringJobs,
  '046-incidents-opened': incidentsOpened,
}

export interface ProgramMigrations {
  readonly statements: Readonly<Record<string, MigrationStatements>>
  /**
   * After these migrations the previous version can go on running and can be started again, so nodes can be replaced one by one. The
   * database stores their names, because an older program does not know newer migrations.
   */
  readonly compatible: ReadonlySet<string>
}

/** No released version could run with 008-nodes, so none of the migrations that were released with it is compatible. */
export const programMigrations: ProgramMigrations = {
  statements: migrations,
  compatible: new Set([
    '015-organisations',
    '016-messages',
    '017-moves',
    '018-presence',
    '019-readings',
    '020-device-names',
    '021-sensors',
    '022-sleep-and-gateways',
    '023-power',
    '024-peripherals',
    '025-gateways',
    '026-custom-fields',
    '027-idempotency-keys',
    '028-node-seen',
    '029-sources',
    '030-item-targets',
    '031-report-history',
    '032-room-days',
    '033-availability-target',
    '035-former-absences',
    '036-saved-views',
    '037-unit-failures',
    '038-incident-notes',
    '045-recurring-jobs',
    '046-incidents-opened',
  ]),
}

const compatiblePrefix = 'compatible migration '

/** Lists those of the given migrations that this program does not know, because a newer one made them. */
export const unknownMigrations = (applied: readonly string[]): string[] =>
  applied.filter((name) => !Object.hasOwn(migrations, name))

/** Lists the migrations that were not applied yet. Refuses a database that a newer program has changed, unless this one may still use it. */
export async function pendingMigrations(db: Database): Promise<{ isNew: boolean; pending: string[] }> {
  const known = Object.keys(migrations)
  const applied = await listApplied(db)
  const compatible = new Set(applied.length > 0 ? await listCompatible(db) : [])
  const unknown = unknownMigrations(applied).filter((name) => !compatible.has(name))
  if (unknown.length > 0) {
    throw new StartupError(
      `The database was made by a newer Roomkeeper (it has ${unknown.join(', ')}). Start that version, or restore a backup.`,
    )
  }
  return { isNew: applied.length === 0, pending: known.filter((name) => !applied.includes(name)) }
}

/** Applies the pending migrations, up to the last or to `upTo`, and returns their names. */
export async function migrate(db: Database, upTo?: string, program = programMigrations): Promise<string[]> {
  const migrator = new Migrator({
    db: db.schema,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(program.statements).map(([name, statements]): [string, Migration] => [
            name,
            {
              async up(on) {
                for (const statement of statements(dialects[db.engine])) {
                  await sql.raw(statement).execute(on)
                }
                if (program.compatible.has(name)) {
                  await sql`insert into settings (name, value) values (${compatiblePrefix + name}, '1')`.execute(on)
                }
              },
            },
          ]),
        ),
    },
  })
  for (;;) {
    const { error, results } = await (upTo ? migrator.migrateTo(upTo) : migrator.migrateToLatest())
    // Another server that started at the same time is still migrating, for longer than a session waits for a lock.
    if (databaseProblemOf(error ?? {}) === 'locked') continue
    if (error) throw error
    return (results ?? []).map((r) => r.migrationName)
  }
}

async function listApplied(db: Database): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db.schema)
    return rows.map((r) => r.name)
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    if (code === '42P01' || message.startsWith('no such table')) return []
    throw error
  }
}

async function listCompatible(db: Database): Promise<string[]> {
  const rows = await db.schema
    .selectFrom('settings')
    .select('name')
    .where('name', 'like', `${compatiblePrefix}%`)
    .execute()
  return rows.map(({ name }) => name.slice(compatiblePrefix.length))
}
