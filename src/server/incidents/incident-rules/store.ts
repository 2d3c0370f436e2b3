// SQL of the rules of incidents: what an organisation has changed about them.
import { query, queryOne, write } from '../../db/queries/query.ts'

export const listChangedRules = query((db, p: { org: number }) =>
  db.selectFrom('incident_rules').select(['rule', 'version', 'settings']).where('org', '=', p.org),
)

export const findChangedRule = queryOne((db, p: { org: number; rule: string }) =>
  db
    .selectFrom('incident_rules')
    .select(['version', 'settings'])
    .where('org', '=', p.org)
    .where('rule', '=', p.rule as never),
)

/** The row stays when everything is restored, because its version must not fall. */
export const updateRule = write((db, p: { org: number; rule: string; version: number; settings: string }) =>
  db
    .insertInto('incident_rules')
    .values({ org: p.org, rule: p.rule as never, version: p.version, settings: p.settings })
    .onConflict((c) => c.columns(['org', 'rule']).doUpdateSet({ version: p.version, settings: p.settings })),
)
