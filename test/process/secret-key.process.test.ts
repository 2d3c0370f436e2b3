// ROOMKEEPER_SECRET_KEY instead of a file: the server, commands and backups use it, and it is never written anywhere.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptySiteForTest, expectDone, expectRefusal, ready, siteForTest } from '../support/program.ts'
import { runHere } from '../support/run-here.ts'

test('a server and its commands take the key from the variable, and write it nowhere', async () => {
  const site = await siteForTest()
  const key = randomBytes(32).toString('hex')
  const env = { ROOMKEEPER_SECRET_KEY: key }
  const server = await ready(site.launch(['serve', '--port', '0', '--log-level', 'trace', ...site.flags], { env }))
  expect(server.key).not.toBe('')
  expect(existsSync(site.secretKeyFile), 'there is no file').toBe(false)

  const checked = await site.launch(['check', ...site.flags], { env }).exit()
  const runWith = (secretKey: string, ...args: string[]) => runHere([...args, ...site.flags], secretKey)
  expectDone(checked)
  expect(checked.stdout).toMatch(/^secret key {2}ok: the key fits/m)
  const plain = join(site.dataDir, 'plain.tar')
  const backup = await runWith(key, 'backup', plain)
  expectDone(backup)
  expect(backup.stdout).toMatch(/^The secret key is not in it: keep ROOMKEEPER_SECRET_KEY \(fingerprint \w{16}\)/m)
  const complete = join(site.dataDir, 'complete.tar')
  expectDone(await runWith(key, 'backup', complete, '--with-secret'))
  expect(readFileSync(complete).includes(key)).toBe(true)

  const without = await site.run('check')
  expect([without.code, without.stdout]).toEqual([
    1,
    expect.stringMatching(/^secret key +FAILED: The secret key .* is missing/m),
  ])
  const wrong = await runWith(randomBytes(32).toString('hex'), 'keys', 'list', '--org', server.org)
  expectRefusal(wrong, /^ROOMKEEPER_SECRET_KEY is not the secret key that this database was made with/)
  const malformed = await runWith('not-a-key', 'keys', 'list', '--org', server.org)
  expectRefusal(malformed, /^ROOMKEEPER_SECRET_KEY is not a Roomkeeper secret key \(64 hexadecimal digits\)/)
  expect(malformed.stdout + malformed.stderr).not.toContain('not-a-key')

  const { stdout, stderr } = await server.stop()
  expect(stdout + stderr + checked.stdout + backup.stdout).not.toContain(key)
  const files = readdirSync(site.dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(site.dataDir, name))
  const withKey = files.filter((file) => statSync(file).isFile() && readFileSync(file).includes(key))
  expect(withKey).toEqual([complete])

  const target = await emptySiteForTest()
  expectDone(await runHere(['restore', plain, ...target.flags], key))
  expect(existsSync(target.secretKeyFile)).toBe(false)
})
