import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { send, startHarness } from '../support/harness.ts'
import { expectDone, expectRefusal, newSite, type ServerHere, Site } from '../support/program.ts'
import type { Ended } from '../support/run-here.ts'

let site: Site
let server: ServerHere
beforeAll(async () => {
  site = await newSite()
  server = await site.serveHere()
})
afterAll(() => site.close())

const at = (path: string, org = server.org) => `/v1/orgs/${org}${path}`
const _statusWith = async (key: string, path = at('/regions')) => (await send(server.url, 'GET', path, { key })).status

describe('audit', () => {
  test('verify finds nothing wrong beside a running server, and head prints what verify --expect takes', async () => {
    const head = await site.run('audit', 'head', '--org', server.org)
    expectDone(head)
    expect(head.stdout).toMatch(new RegExp(`^${server.org}:\\d+:[0-9a-f]{64}\\n$`))
    await send(server.url, 'POST', at('/regions'), { key: server.key, body: { name: 'Later' } })
    const verified = await site.run('audit', 'verify', '--expect', head.stdout.trim())
    expectDone(verified)
    expect(verified.stdout).toMatch(new RegExp(`^${server.org}: \\d+ entries`, 'm'))
    const { heads } = await site.json('audit', 'head')
    expect(heads).toHaveLength((await site.sql('SELECT id FROM orgs ORDER BY id')).length)
  })

  test('verify refuses to expect what no head can be, and fails for a head of elsewhere', async () => {
    expectRefusal(await site.run('audit', 'verify', '--expect', 'nonsense'), /nonsense.*audit head/)
    const foreign = `NoSuch1:3:${'0'.repeat(64)}`
    const { code, stdout } = await site.run('audit', 'verify', '--expect', foreign)
    expect(code).toBeGreaterThan(0)
    expect(stdout).toContain(foreign)
  })

  /** A server of its own with organisations of five entries each, and a way to the database behind its back. */
  async function tamperedSite() {
    const harness = await startHarness()
    onTestFinished(() => harness.close())
    const behind = new Site(harness.place, async () => {})
    onTestFinished(() => behind.close())
    const newLog = async () => {
      const org = await harness.newOrg()
      for (const name of ['Europe', 'Asia', 'Africa']) await org.call('POST', '/regions', { body: { name } })
      return org
    }
    return { behind, newLog }
  }

  const lineOf = (org: string, { stdout }: Ended) => stdout.split('\n').find((line) => line.startsWith(`${org}:`))

  test('verify exits non-zero and names the entry that was edited, removed or reordered in the database', async () => {
    const { behind, newLog } = await tamperedSite()
    const [edited, removed, reordered, last, sound] = [
      await newLog(),
      await newLog(),
      await newLog(),
      await newLog(),
      await newLog(),
    ]
    const seqIs = ({ org }: typeof sound, seq: number) => `WHERE org = ${org.key} AND seq = ${seq}`
    await behind.sql(`UPDATE audit_log SET actor_name = 'Somebody else' ${seqIs(edited, 3)}`)
    await behind.sql(`DELETE FROM audit_log ${seqIs(removed, 4)}`)
    await behind.sql(`UPDATE audit_log SET seq = 1000 ${seqIs(reordered, 2)}`)
    await behind.sql(`UPDATE audit_log SET seq = 2 ${seqIs(reordered, 3)}`)
    await behind.sql(`UPDATE audit_log SET seq = 3 ${seqIs(reordered, 1000)}`)
    await behind.sql(`DELETE FROM audit_log ${seqIs(last, 5)}`)

    const verdict = await behind.run('audit', 'verify')
    expect(verdict.code).toBeGreaterThan(0)
    expect(verdict.stderr).toBe('Audit log verification failed.\n')
    expect(lineOf(edited.id, verdict)).toMatch(/BROKEN.*\bentry 3\b/)
    expect(lineOf(removed.id, verdict)).toMatch(/BROKEN.*\bentry 4\b/)
    expect(lineOf(reordered.id, verdict)).toMatch(/BROKEN.*\bentry 2\b/)
    expect(lineOf(last.id, verdict)).toMatch(/BROKEN.*\bentr(y|ies) 5\b/)
    expect(lineOf(sound.id, verdict)).toBe(`${sound.id}: 5 entries, verified.`)

    const json = await behind.launch(['audit', 'verify', '--json', '--org', edited.id, ...behind.flags]).exit()
    expect(json.code).toBeGreaterThan(0)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, organisations: [{ org: edited.id }] })
  })

  test('verify finds a cut tail only when it is told the head to expect', async () => {
    const { behind, newLog } = await tamperedSite()
    const { id, org } = await newLog()
    const head = (await behind.json('audit', 'head', '--org', id)).heads[0]
    await behind.sql(`DELETE FROM audit_log WHERE org = ${org.key} AND seq > 3`)
    const kept = (column: string) => `(SELECT ${column} FROM audit_log WHERE org = ${org.key} AND seq = 3)`
    await behind.sql(
      `UPDATE audit_heads SET count = 3, mac = ${kept('mac')}, timestamp = ${kept('timestamp')} WHERE org = ${org.key}`,
    )
    const plain = await behind.run('audit', 'verify')
    expectDone(plain)
    expect(lineOf(id, plain)).toBe(`${id}: 3 entries, verified.`)
    const told = await behind.run('audit', 'verify', '--expect', head)
    expect(told.code).toBeGreaterThan(0)
    expect(lineOf(id, told)).toMatch(/BROKEN.*tail was cut/)
    expect(told.stdout).toContain(head)
  })
})
