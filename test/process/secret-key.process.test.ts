// ROOMKEEPER_SECRET_KEY instead of a file: the server, commands and backups use it, and it is never written anywhere.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectDone, expectRefusal, ready, siteForTest } from '../support/program.ts'

test('a server and its commands take the key from the variable, and write it nowhere', async () => {
  const site = await siteForTest()
  const key = randomBytes(32).toString('hex')
  const env = { ROOMKEEPER_SECRET_KEY: key }
  const server = await ready(site.launch(['serve', '--port', '0', '--log-level', 'trace', ...site.flags], { env }))
  expect(server.key).not.toBe('')
  expect(existsSync(site.secretKeyFile), 'there is no file').toBe(false)

  const checked = await site.launch(['check', ...site.flags], { env }).exit()
  expectDone(checked)
  expect(checked.stdout).toMatch(/^secret key {2}ok: the key fits/m)
  const plain = join(site.dataDir, 'plain.tar')
  const backup = await site.launch(['backup', plain, ...site.flags], { env }).exit()
  expectDone(backup)
  expect(backup.stdout).toMatch(/^The secret key is not in it: keep ROOMKEEPER_SECRET_KEY \(fingerprint \w{16}\)/m)
  const complete = join(site.dataDir, 'complete.tar')
  expectDone(await site.launch(['backup', complete, '--with-secret', ...site.flags], { env }).exit())
  expect(readFileSync(complete).includes(key)).toBe(true)

  const without = await site.run('check')
  expect([without.code, without.stdout]).toEqual([
    1,
    expect.stringMatching(/^secret key +FAILED: The secret key .* is missing/m),
  ])
  const other = { ROOMKEEPER_SECRET_KEY: randomBytes(32).toString('hex') }
  const wrong = await site.launch(['keys', 'list', '--org', server.org, ...site.flags], { env: other }).exit()
  expectRefusal(wrong, /^ROOMKEEPER_SECRET_KEY is not the secret key that this database was made with/)
  const malformed = await site
    .launch(['keys', 'list', '--org', server.org, ...site.flags], { env: { ROOMKEEPER_SECRET_KEY: 'not-a-key' } })
    .exit()
  expectRefusal(malformed, /^ROOMKEEPER_SECRET_KEY is not a Roomkeeper secret key \(64 hexadecimal digits\)/)
  expect(malformed.stdout + malformed.stderr).not.toContain('not-a-key')

  const { stdout, stderr } = await server.stop()
  expect(stdout + stderr + checked.stdout + backup.stdout).not.toContain(key)
  const files = readdirSync(site.dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(site.dataDir, name))
  const withKey = files.filter((file) => statSync(file).isFile() && readFileSync(file).includes(key))
  expect(withKey).toEqual([complete])

  const target = await siteForTest()
  expectDone(await target.launch(['restore', plain, ...target.flags], { env }).exit())
  expect(existsSync(target.secretKeyFile)).toBe(false)
})
