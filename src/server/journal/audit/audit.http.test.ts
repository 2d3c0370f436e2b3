// Tests the audit log: windows, pages, export, and a chain that shows tampering.

import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine, type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { OrgReader } from '../../db/handles.ts'
import { regionsCreate } from '../../fleet/regions/rules.ts'
import { headText, verifyChain } from './chain.ts'
import { findHead, listWindow } from './store.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const noon = Date.UTC(2026, 2, 2, 12)
const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString())

/** Creates an organisation whose log has `count` region entries, one a second from noon on. */
async function orgWithEntries(count: number): Promise<TestOrg> {
  harness.clock.fix(noon - 3_600_000)
  const org = await harness.newOrg()
  for (let i = 0; i < count; i++) {
    harness.clock.fix(noon + i * 1000)
    await org.call('POST', '/regions', { body: { name: `region ${i}` } })
  }
  return org
}
const window = (from: number, to: number, more = '') => `/audit/logs?from=${at(from)}&to=${at(to)}${more}`
const names = (logs: { target: { name: string } }[]) => logs.map((l) => l.target.name)

describe('auditLogs [interface 1] [contract 4.auditLogs]', () => {
  test('takes entries from the start of the window, inclusive, to its end, exclusive, newest first', async () => {
    const { call } = await orgWithEntries(5)
    const { body } = await call('GET', window(noon + 1000, noon + 3000))
    expect(names(body.logs)).toEqual(['region 2', 'region 1'])
    expect(body.nextPageToken).toBe('')
    expect((await call('GET', window(noon, noon))).body.logs).toEqual([])
  })

  test('accepts any ISO 8601 offset, none as UTC, and a space for an unescaped plus [contract 1.6]', async () => {
    const { call } = await orgWithEntries(1)
    for (const from of [
      '2026-03-02T12:00:00Z',
      '2026-03-02T14:00:00+02:00',
      '2026-03-02T07:30-0430',
      '2026-03-02T12:00:00.000',
      '2026-03-02',
      '2026-03-02T14:00:00%2B02',
    ]) {
      const { status, body } = await call('GET', `/audit/logs?from=${from}&to=2026-03-03`)
      expect([status, names(body.logs)[0]], from).toEqual([200, 'region 0'])
    }
  })

  test('needs both bounds, real times, and from not after to', async () => {
    const { call } = await harness.newOrg()
    for (const [query, field] of [
      ['to=2026-03-03', 'from'],
      ['from=2026-03-03', 'to'],
      ['from=2026-02-30&to=2026-03-03', 'from'],
      ['from=2026-03-01&to=yesterday', 'to'],
      ['from=2026-03-03&to=2026-03-01', 'from'],
      ['from=2026-03-01&from=2026-03-02&to=2026-03-03', 'from'],
      ['from=2026-03-01&to=2026-03-03&pageSize=-1', 'pageSize'],
      ['from=2026-03-01&to=2026-03-03&pageSize=1e2', 'pageSize'],
      ['from=2026-03-01T25:00Z&to=2026-03-03', 'from'],
    ]) {
      const reply = await call('GET', `/audit/logs?${query}`)
      expect(reply.status, query).toBe(400)
      expect(reply.body.violations[0].field).toBe(field)
    }
  })

  test('pages of any size hold every entry once, also while new ones arrive', async () => {
    const { call } = await orgWithEntries(23)
    for (const size of [1, 5, 23, 24]) {
      const seen: string[] = []
      let token = ''
      do {
        const { body } = await call('GET', window(noon, noon + 60_000, `&pageSize=${size}&pageToken=${token}`))
        expect(body.logs.length).toBeLessThanOrEqual(size)
        seen.push(...names(body.logs))
        token = body.nextPageToken
        harness.clock.fix(noon + 30_000)
        await call('POST', '/locations', { body: { name: 'added between pages' } })
      } while (token !== '')
      const old = seen.filter((name) => name !== 'added between pages')
      expect(old).toEqual(Array.from({ length: 23 }, (_, i) => `region ${22 - i}`))
    }
  })

  test('pageSize 0 or absent means 100, more than 1000 means 1000', async () => {
    const { call } = await orgWithEntries(102)
    expect((await call('GET', window(noon, noon + 9e5))).body.logs).toHaveLength(100)
    expect((await call('GET', window(noon, noon + 9e5, '&pageSize=0'))).body.logs).toHaveLength(100)
    expect((await call('GET', window(noon, noon + 9e5, '&pageSize=2000000000'))).body.logs).toHaveLength(102)
  })

  test('a page token is bound to its organisation and window; a forged one is a 400', async () => {
    const { call } = await orgWithEntries(3)
    const other = await orgWithEntries(3)
    const token = (await call('GET', window(noon, noon + 9000, '&pageSize=1'))).body.nextPageToken
    expect((await call('GET', window(noon, noon + 9000, `&pageToken=${token}`))).body.logs).toHaveLength(2)
    const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')
    for (const attempt of [
      call('GET', window(noon, noon + 9001, `&pageToken=${token}`)),
      other.call('GET', window(noon, noon + 9000, `&pageToken=${token}`)),
      call('GET', window(noon, noon + 9000, `&pageToken=${flipped}`)),
      call('GET', window(noon, noon + 9000, '&pageToken=rubbish')),
      call('GET', window(noon, noon + 9000, `&pageToken=${token}%3D`)),
    ]) {
      const reply = await attempt
      expect(reply.status).toBe(400)
      expect(reply.body.violations[0].field).toBe('pageToken')
    }
  })

  test('an entry is written also when the values were equal; a clock set back does not disorder the log [contract D.8]', async () => {
    const { call, audit } = await orgWithEntries(2)
    harness.clock.fix(noon - 86_400_000)
    await call('PUT', '/regions/1', { body: { name: 'region 0' } })
    const [newest, second] = await audit()
    expect(newest.details).toEqual({ before: { name: 'region 0' }, after: { name: 'region 0' } })
    expect(newest.timestamp >= second.timestamp).toBe(true)
  })

  test('as text/csv streams the whole window, audits that, and is safe in a spreadsheet', async () => {
    const org = await orgWithEntries(1)
    const { call, audit } = org
    await call('POST', '/regions', { body: { name: '=HYPERLINK("http://evil.example")' } })
    // In groups, because a change that waits for others for 5 s is refused.
    for (let group = 0; group < 11; group++) {
      const names = Array.from({ length: 100 }, (_, i) => `bulk ${group * 100 + i}`)
      await Promise.all(names.map((name) => regionsCreate(org.ctx, { name })))
    }
    const before = (await audit()).length
    const csv = await call('GET', window(noon - 1000, noon + 9e5), { headers: { accept: 'text/csv' } })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(csv.headers.get('content-disposition')).toContain('attachment')
    const lines = csv.text.trimEnd().split('\r\n')
    expect(lines[0]).toBe(
      'id,timestamp,category,type,actorType,actorId,actorName,targetType,targetId,targetName,details,requestId,ip',
    )
    expect(lines.filter((l) => l.includes('bulk ')).length).toBe(1100)
    expect(csv.text).toContain(`"'=HYPERLINK(""http://evil.example"")"`)
    const [exported] = await audit()
    expect(before).toBeLessThanOrEqual(1000)
    const head = await call('HEAD', window(noon, noon + 9e5), { headers: { accept: 'text/csv' } })
    expect(head.text).toBe('')
    for (const name of ['content-type', 'content-disposition', 'x-content-type-options']) {
      expect(head.headers.get(name), name).toBe(csv.headers.get(name))
    }
    expect((await audit())[0], 'HEAD takes nothing away').toEqual(exported)
    expect(exported).toMatchObject({ type: 'AUDIT_EXPORTED', category: 'ORG' })
  })

  test('a window is read from its index, without sorting', async () => {
    const { org } = await orgWithEntries(1)
    const seen: string[] = []
    const { kysely } = harness.services.db.system
    const spy = new OrgReader({ org: org.key, access: RegionAccess.everything }, engine, {
      kysely,
      async run(query, values) {
        seen.push(await planOf(query.sql, values))
        return []
      },
    })
    await listWindow(spy, { from: noon, beforeTimestamp: noon + 1000, beforeSeq: 5, limit: 100 })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toContain('audit_log_window')
    expect(seen[0]).not.toMatch(/TEMP B-TREE|Sort|SCAN audit_log(?! USING INDEX)|Seq Scan/)
  })
})

async function planOf(text: string, parameters: readonly unknown[]): Promise<string> {
  const { kysely } = harness.services.db.system
  const compiled = (prefix: string) => ({ ...sql.raw(prefix + text).compile(kysely), parameters: [...parameters] })
  if (engine === 'sqlite') {
    const { rows } = await kysely.executeQuery<{ detail: string }>(compiled('EXPLAIN QUERY PLAN '))
    return rows.map((r) => r.detail).join('\n')
  }
  // PostgreSQL scans a tiny table sequentially, so those scans are switched off to see which index fits.
  return harness.services.db.systemTransaction(async (t) => {
    await sql`set local enable_seqscan = off`.execute(t.kysely)
    await sql`set local enable_bitmapscan = off`.execute(t.kysely)
    const { rows } = await t.kysely.executeQuery<{ 'QUERY PLAN': string }>(compiled('EXPLAIN '))
    return rows.map((r) => r['QUERY PLAN']).join('\n')
  })
}

describe('the chain', () => {
  const verify = ({ org }: TestOrg, expected: string[] = []) =>
    verifyChain(harness.services.db.forOrg(org.key), harness.services.secrets, org, expected)
  /** Acts as an attacker who can write to the database but does not know the secret. */
  const tamper = (statement: ReturnType<typeof sql>) =>
    harness.services.db.systemTransaction((t) => statement.execute(t.kysely))

  test('of an untouched log is in order', async () => {
    const org = await orgWithEntries(5)
    const verdict = await verify(org)
    expect(verdict.problem).toBeUndefined()
    expect(verdict.entries).toBe((await org.audit()).length)
  })

  test.each(['details', 'actor_name', 'target_id', 'type', 'request_id', 'regions'])(
    'shows an edited %s',
    async (column) => {
      const org = await orgWithEntries(5)
      await tamper(sql`update audit_log set ${sql.ref(column)} = 'x' where org = ${org.org.key} and seq = 4`)
      expect((await verify(org)).problem).toMatch(/^entry 4 was changed/)
    },
  )

  test('shows an edited time', async () => {
    const org = await orgWithEntries(5)
    await tamper(sql`update audit_log set timestamp = timestamp + 1 where org = ${org.org.key} and seq = 4`)
    expect((await verify(org)).problem).toMatch(/^entry 4 was changed/)
  })

  test('shows a removed entry, in the middle and at the end', async () => {
    const middle = await orgWithEntries(5)
    await tamper(sql`delete from audit_log where org = ${middle.org.key} and seq = 3`)
    expect((await verify(middle)).problem).toBe('entry 3 is missing')
    const end = await orgWithEntries(5)
    await tamper(sql`delete from audit_log where org = ${end.org.key} and seq > 5`)
    expect((await verify(end)).problem).toMatch(/^entries 6 to 7 are missing/)
  })

  test.each([0, 8, 1000])('shows an entry that was added as number %i', async (seq) => {
    const org = await orgWithEntries(5)
    await tamper(
      sql`insert into audit_log select org, ${sql.lit(seq)}, timestamp, category, type, actor_type, actor_id, actor_name, target_type, target_id, target_name, details, request_id, ip, mac, regions from audit_log where org = ${org.org.key} and seq = 4`,
    )
    expect((await verify(org)).problem).toBe(`entry ${seq} does not belong to the log`)
  })

  test('is in order also while entries are being added', async () => {
    const org = await orgWithEntries(3)
    const writing = Promise.all(
      Array.from({ length: 30 }, (_, i) => org.call('POST', '/regions', { body: { name: `${i}` } })),
    )
    for (let i = 0; i < 10; i++) expect((await verify(org)).problem).toBeUndefined()
    await writing
    expect((await verify(org)).entries).toBe(35)
  })

  test('shows two entries that changed places', async () => {
    const org = await orgWithEntries(5)
    const { key } = org.org
    await tamper(sql`update audit_log set seq = 1000 where org = ${key} and seq = 3`)
    await tamper(sql`update audit_log set seq = 3 where org = ${key} and seq = 4`)
    await tamper(sql`update audit_log set seq = 4 where org = ${key} and seq = 1000`)
    expect((await verify(org)).problem).toMatch(/^entry 3 was changed, or is not in its place/)
  })

  test('of another organisation cannot stand in for this one', async () => {
    const org = await orgWithEntries(3)
    const other = await orgWithEntries(3)
    await tamper(sql`delete from audit_log where org = ${org.org.key}`)
    await tamper(
      sql`insert into audit_log select ${org.org.key}, seq, timestamp, category, type, actor_type, actor_id, actor_name, target_type, target_id, target_name, details, request_id, ip, mac, regions from audit_log where org = ${other.org.key}`,
    )
    expect((await verify(org)).problem).toMatch(/^entry 1 was changed/)
  })

  test('with its tail cut and its head set back is found only by a head that was written down', async () => {
    const org = await orgWithEntries(5)
    const { key } = org.org
    const head = await findHead(harness.services.db.forOrg(key))
    const written = headText(org.id, head?.count ?? 0, head?.mac ?? Buffer.alloc(0))
    expect((await verify(org, [written])).problem).toBeUndefined()
    await tamper(sql`delete from audit_log where org = ${key} and seq > 5`)
    await tamper(
      sql`update audit_heads set count = 5, mac = (select mac from audit_log where org = ${key} and seq = 5) where org = ${key}`,
    )
    expect((await verify(org)).problem).toBeUndefined()
    expect((await verify(org, [written])).problem).toContain('its tail was cut')
  })

  test('goes on after new entries: an old head stays valid', async () => {
    const org = await orgWithEntries(2)
    const { head } = await verify(org)
    await org.call('POST', '/regions', { body: { name: 'later' } })
    expect((await verify(org, [head])).problem).toBeUndefined()
  })
})
