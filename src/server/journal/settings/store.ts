// SQL of the settings that all nodes share. The table has other rows too, such as the identity of the secret key.
import { isAnyOf } from '../../db/queries/any-of.ts'
import { systemQuery, systemWrite } from '../../db/system.ts'

/** In a transaction of PostgreSQL, `mustLock` keeps others from changing them until its end. */
const list = (mustLock: boolean) =>
  systemQuery((db, p: { names: readonly string[] }, engine) =>
    db
      .selectFrom('settings')
      .select(['name', 'value'])
      .where(isAnyOf(engine, 'name', p.names))
      .orderBy('name')
      .$if(mustLock && engine === 'postgres', (q) => q.forUpdate()),
  )
export const listSettings = list(false)
export const lockSettings = list(true)

/** A stored setting stays as it is. */
export const insertSetting = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.doNothing()),
)

export const updateSetting = systemWrite((db, p: { name: string; value: string }) =>
  db
    .insertInto('settings')
    .values({ name: p.name, value: p.value })
    .onConflict((c) => c.column('name').doUpdateSet({ value: p.value })),
)
