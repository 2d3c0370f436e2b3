// How statements are sent to PostgreSQL: named when used often, and not awaited when they return no rows.
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { engine, newPlace } from '../../../../test/support/harness.ts'
import type { DatabaseEngine } from '../engine.ts'
import { openPostgres } from './pools.ts'

const insert = CompiledQuery.raw('insert into things (id, name) values ($1, $2)')
const insertReturning = CompiledQuery.raw('insert into things (id, name) values ($1, $2) returning id')
const list = CompiledQuery.raw('select id, name from things order by id')

describe.runIf(engine === 'postgres')('PostgreSQL', () => {
  let backend: DatabaseEngine
  let cleanUp: () => Promise<unknown>
  let url: string
  beforeAll(async () => {
    const { place, remove } = await newPlace()
    url = place.databaseUrl ?? ''
    backend = openPostgres(url, { onError() {} }).backend
    cleanUp = async () => {
      await backend.close()
      await remove()
    }
    await backend.transaction(async ({ kysely }) => {
      await kysely.executeQuery(CompiledQuery.raw('create table things (id bigint primary key, name text not null)'))
    })
  })
  afterAll(() => cleanUp())
  beforeEach(() => backend.schema.executeQuery(CompiledQuery.raw('truncate things')))
  const things = () => backend.reader.run(list, [])

  test('a write that returns no rows is not awaited, and is durable after the commit', async () => {
    const result = await backend.transaction(async (on) => {
      expect(on.run(insert, [1, 'a'])).toEqual([])
      expect(on.run(insert, [2, 'b'])).toEqual([])
      return 'done'
    })
    expect(result).toBe('done')
    expect(await things()).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ])
  })

  test('a commit is durable when it is acknowledged, also if the database has `synchronous_commit = off`', async () => {
    const name = new URL(url).pathname.slice(1)
    await backend.schema.executeQuery(CompiledQuery.raw(`alter database "${name}" set synchronous_commit = off`))
    const later = openPostgres(url, { onError() {} })
    const show = CompiledQuery.raw('show synchronous_commit')
    expect((await later.pools.reader.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'off' }])
    expect(await later.backend.transaction(async (on) => on.run(show, []))).toEqual([{ synchronous_commit: 'on' }])
    await later.backend.close()
  })

  test('a later read in the transaction sees such a write', async () => {
    await backend.transaction(async (on) => {
      on.run(insert, [1, 'a'])
      expect(await on.run(list, [])).toEqual([{ id: 1, name: 'a' }])
      expect(await on.run(insertReturning, [2, 'b'])).toEqual([{ id: 2 }])
    })
    expect(await things()).toHaveLength(2)
  })

  test('if such a write fails, the commit fails with its error, and nothing is written', async () => {
    const writing = backend.transaction(async (on) => {
      on.run(insert, [1, 'a'])
      on.run(insert, [1, 'again'])
      on.run(insert, [2, null])
    })
    await expect(writing).rejects.toMatchObject({ code: '23505' })
    expect(await things()).toEqual([])
  })

  test('if such a write fails, later statements fail with the same error', async () => {
    const reasons: unknown[] = []
    const writing = backend.transaction(async (on) => {
      on.run(insert, [1, null])
      for (const again of [() => on.run(list, []), async () => on.run(insert, [3, 'c'])]) {
        await (again() as Promise<unknown>).catch((error) => reasons.push(error.code))
      }
    })
    await expect(writing).rejects.toMatchObject({ code: '23502' })
    expect(reasons).toEqual(['23502', '23502'])
    expect(await things()).toEqual([])
  })

  test('a work that throws rolls back writes that were not awaited, and the connection stays usable', async () => {
    const pid = CompiledQuery.raw('select pg_backend_pid() as pid')
    const pids: unknown[] = []
    const writing = backend.transaction(async (on) => {
      pids.push(await on.run(pid, []))
      on.run(insert, [1, 'a'])
      throw new Error('changed my mind')
    })
    await expect(writing).rejects.toThrow('changed my mind')
    await backend.transaction(async (on) => {
      pids.push(await on.run(pid, []))
      on.run(insert, [2, 'b'])
    })
    expect(pids[0]).toEqual(pids[1])
    expect(await things()).toEqual([{ id: 2, name: 'b' }])
  })

  test('a read that fails throws the error of PostgreSQL, and the connection stays usable', async () => {
    const divide = CompiledQuery.raw('select 1 / $1::int as part')
    for (let i = 0; i < 10; i++) {
      await expect(backend.reader.run(divide, [0])).rejects.toMatchObject({ code: '22012' })
      expect(await backend.reader.run(divide, [1])).toEqual([{ part: 1 }])
    }
  })

  test('a statement that is used often is prepared once for a connection, and others are not', async () => {
    const frequent = CompiledQuery.raw('select 1 as one, $1::int as two')
    const rare = CompiledQuery.raw('select 2 as two, $1::int as three')
    const prepared = CompiledQuery.raw('select statement from pg_prepared_statements where statement like $1')
    for (let i = 0; i < 10; i++) expect(await backend.reader.run(frequent, [i])).toEqual([{ one: 1, two: i }])
    await backend.reader.run(rare, [1])
    expect(await backend.reader.run(prepared, ['select 1 as one%'])).toEqual([{ statement: frequent.sql }])
    expect(await backend.reader.run(prepared, ['select 2 as two%'])).toEqual([])
  })

  test('a write through the reader is refused, and the connection stays usable', async () => {
    const pid = CompiledQuery.raw('select pg_backend_pid() as pid')
    const before = await backend.reader.run(pid, [])
    await expect(backend.reader.run(CompiledQuery.raw('delete from things'), [])).rejects.toMatchObject({
      code: '25006',
    })
    expect(await backend.reader.run(pid, [])).toEqual(before)
    await expect(backend.reader.kysely.transaction().execute(async () => {})).rejects.toThrow('no transactions')
    expect(await backend.reader.kysely.executeQuery(list)).toMatchObject({ rows: [] })
  })
})
