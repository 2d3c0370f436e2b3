// Commands beside a server use the database and the address that it recorded.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { own } from '../support/console/console-session.ts'
import { engine, send } from '../support/harness.ts'
import { expectRefusal, siteForTest } from '../support/program.ts'
import { runHere } from '../support/run-here.ts'

test('a command with the data folder alone reaches the database of the server, and no password is recorded', async () => {
  const site = await siteForTest()
  const server = await site.serveHere()
  const text = readFileSync(join(site.dataDir, 'server.json'), 'utf8')
  const password = site.databaseUrl && new URL(site.databaseUrl).password
  if (password) expect(text).not.toContain(password)
  expect(JSON.parse(text)).toMatchObject({
    url: server.url,
    publicUrl: server.publicUrl,
    isPublicUrlAssumed: true,
  })
  // The password is a variable of a process.
  const command = (...args: string[]) => {
    const all = [...args, '--data-dir', site.dataDir]
    return password ? site.launch(all, { env: { PGPASSWORD: password } }).exit() : runHere(all)
  }
  expect((await command('org', 'list')).stdout).toContain(server.org)
  expect((await command('audit', 'verify')).stdout).toMatch(/verified/)
  const { findings } = JSON.parse((await command('doctor', '--json', '--port', '0')).stdout)
  expect(findings[0]).toMatchObject({ subject: 'database', state: 'ok' })
  const link = /#(\S+)/.exec((await command('login-link')).stdout)?.[1]
  const reply = await send(server.url, 'POST', '/console/session', { body: { link }, headers: own })
  expect(reply.body).toMatchObject({ org: { id: server.org } })
})

test.runIf(engine === 'postgres')(
  'a command with the data folder alone asks for the password that was not recorded',
  async () => {
    const site = await siteForTest()
    await site.serveHere()
    const refused = await site.launch(['org', 'list', '--data-dir', site.dataDir]).exit()
    expectRefusal(
      refused,
      /recorded its database without the password: give it with ROOMKEEPER_DATABASE_URL or PGPASSWORD/,
    )
  },
)

// The address is in a file of the data folder, which is the same beside both databases.
test.runIf(engine === 'sqlite')('login-link leads to https and to the public address, port included', async () => {
  const site = await siteForTest()
  const { cert, key } = certificate(site)
  const server = await site.serveHere('--tls-cert', cert, '--tls-key', key)
  const { url } = await site.json('login-link')
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/sign-in#rkl_/)
  expect(new URL(url).origin).toBe(server.url)
  expect((await site.json('login-link', '--port', new URL(url).port)).url).toMatch(/^https:/)
  await server.stop()
  await site.serveHere('--public-url', 'https://rooms.example.org:8443')
  expect((await site.json('login-link')).url).toMatch(/^https:\/\/rooms\.example\.org:8443\/sign-in#rkl_/)
})
