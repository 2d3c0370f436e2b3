// Tests the output of a start, with and without a terminal: its commands work when they are pasted into a shell. [contract 11.local]
import { execFile, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { own } from '../support/console/console-session.ts'
import { freePort } from '../support/free-port.ts'
import { engine, send } from '../support/harness.ts'
import {
  printedCommand,
  type Site,
  siteForTest,
  startTimeoutMs,
  terminalStarter,
  until,
  untilPrinted,
} from '../support/program.ts'

const root = join(import.meta.dirname, '../..')
const anySecret = /rk[a-z]?_|sign-in#/

/** Pastes a command into a shell in another folder. PostgreSQL's password is in a variable, because no output has it. */
async function paste(command: string, { databaseUrl }: Site): Promise<string> {
  const env = { PATH: process.env.PATH, ...(databaseUrl && { ROOMKEEPER_DATABASE_URL: databaseUrl }) }
  return (await promisify(execFile)('sh', ['-c', command], { cwd: '/', env })).stdout
}

const commandIn = (text: string, name: string) => printedCommand(name).exec(text)?.[1] ?? ''

/** The key and the owner that the printed commands make can be used. */
async function expectCommandsWork(text: string, site: Site, url: string, org: string): Promise<void> {
  const key = (await paste(commandIn(text, 'keys create'), site)).split('\n')[1]
  const { body } = await send(url, 'GET', `/v1/orgs/${org}/keys`, { key: key ?? '' })
  expect(body.keys).toMatchObject([{ name: 'First key', scopes: ['read', 'write'], manage: true }])
  await expectOwnerCommandWorks(text, site, url, org)
}

async function expectOwnerCommandWorks(text: string, site: Site, url: string, org: string): Promise<void> {
  const invited = await paste(commandIn(text, `users invite --role owner --org ${org}`), site)
  const [, base, link] = /^(\S+)\/sign-in#(rki_\w{40})\n/.exec(invited) ?? []
  expect(base).toBe(url)
  const signIn = { headers: own, body: { link, email: 'ada@people.example' } }
  const reply = await send(url, 'POST', '/console/session', signIn)
  expect(reply.body).toMatchObject({ user: { email: 'ada@people.example', role: 'owner' }, org: { id: org } })
}

test.runIf(engine === 'sqlite')(
  'npm start without a terminal makes no key, prints no secret, and its commands work when pasted',
  async () => {
    const site = await siteForTest()
    const dataDir = join(site.dataDir, "it's ours; $HOME")
    const config = join(site.dataDir, 'rooms conf')
    writeFileSync(
      config,
      `ROOMKEEPER_PORT=1\nROOMKEEPER_MQTT_PORT=off\nROOMKEEPER_DATA_DIR=${join(site.dataDir, 'no')}\n`,
    )
    const options = ['--config', config, '--port', String(await freePort()), '--data-dir', dataDir]
    const child = spawn('npm', ['start', '--', ...options], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    onTestFinished(() => void process.kill(-(child.pid as number), 'SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    await until('the command for an owner', () => commandIn(output, 'users invite'), { timeoutMs: startTimeoutMs })
    const [, url = ''] = /^Roomkeeper is ready at (\S+)$/m.exec(output) ?? []
    const [, org = ''] = /^ {2}Organisation {2}(\S+)$/m.exec(output) ?? []
    expect(output).not.toMatch(anySecret)
    const commands = [...output.matchAll(/^ {2}.*(keys create|users invite) /gm)].map(([, name]) => name)
    expect(commands).toEqual(['keys create', 'users invite'])
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain('it prints two commands instead')
    const place = { databaseUrl: undefined } as Site
    await expectCommandsWork(output, place, url, org)
  },
)

test('each start says which organisations lack a key or an active owner, and the commands name the organisation', async () => {
  const site = await siteForTest()
  const start = () =>
    site.launchHere(['serve', '--port', '0', '--mqtt-port', '0', '--log-level', 'silent', ...site.flags])
  const first = start()
  await untilPrinted(first, printedCommand('users invite'))
  const [, org = ''] = await untilPrinted(first, /^ {2}Organisation {2}(\S+)$/m)
  expect(first.stdout + first.stderr).not.toMatch(anySecret)
  for (const table of ['api_keys', 'users', 'user_links', 'login_links']) {
    expect(await site.sql(`SELECT * FROM ${table}`), table).toEqual([])
  }
  const needed = /^Set ROOMKEEPER_DATABASE_URL to the server's value before you run these commands\.$/m
  if (engine === 'postgres') expect(first.stdout).toMatch(needed)
  else expect(first.stdout).not.toMatch(needed)
  await first.stop()

  const { id: other } = await site.json('org', 'create', 'Other')
  const later = start()
  const [, publicUrl = ''] = await untilPrinted(later, /^Roomkeeper is ready at (\S+)$/m)
  for (const id of [org, other]) {
    await untilPrinted(later, printedCommand(`keys create --org ${id}`))
    await untilPrinted(later, printedCommand(`users invite --role owner --org ${id}`))
  }
  await expectOwnerCommandWorks(later.stdout, site, publicUrl, org)
  await site.json('keys', 'create', '--org', org, '--name', 'K', '--scope', 'read')
  // An owner who was only invited cannot invite others yet.
  await site.json('users', 'invite', 'eve@people.example', '--role', 'owner', '--org', other)
  await later.stop()

  const last = start()
  await untilPrinted(last, printedCommand(`users invite --role owner --org ${other}`))
  await last.stop()
  expect(last.stdout).not.toContain('has no API key')
  expect(last.stdout).not.toContain(`Organisation ${org}`)
})

test.runIf(engine === 'sqlite')(
  'a terminal gets a key and a link at its first start, even if one without a terminal came before, and never again',
  async () => {
    const site = await siteForTest()
    const before = await site.launch(['serve', '--port', '0', ...site.flags])
    const [, org = ''] = await before.printed(/^ {2}Organisation {2}(\S+)$/m, 'stdout', startTimeoutMs)
    expect(before.stdout + before.stderr).not.toMatch(anySecret)
    await before.stop()
    const server = site.launch(['serve', '--port', '0', ...site.flags], { starter: terminalStarter() })
    const [, url = '', link = ''] = await server.printed(
      /^Open the console: (\S+)\/sign-in#(rki_\w{40}) /m,
      'stdout',
      startTimeoutMs,
    )
    const [, key = ''] = await server.printed(/^ {2}Key +(\S+)$/m)
    expect((await send(url, 'GET', `/v1/orgs/${org}/regions`, { key })).status).toBe(200)
    const signIn = { headers: own, body: { link, email: 'ada@people.example' } }
    expect((await send(url, 'POST', '/console/session', signIn)).body).toMatchObject({ user: { role: 'owner' } })
    await server.stop()
    const later = site.launch(['serve', '--port', '0', ...site.flags], { starter: terminalStarter() })
    const [, command = ''] = await later.printed(/^To get back in: (.+)$/m, 'stdout', startTimeoutMs)
    expect(later.stdout).not.toMatch(anySecret)
    expect(later.stdout).not.toContain('Organisation')
    expect(await paste(command.trim().replace('EMAIL', 'ada@people.example'), site)).toMatch(
      /^\S+\/sign-in#rki_\w{40}\n/,
    )
  },
)

test('without an address, users invite makes a link for the first owner only', async () => {
  const site = await siteForTest()
  const { id } = await site.json('org', 'create', 'One')
  const refusal = /^Name the e-mail address of the person\./
  for (const options of [[], ['--role', 'admin'], ['--role', 'owner', '--name', 'Ada']]) {
    expect((await site.run('users', 'invite', ...options)).stderr).toMatch(refusal)
  }
  expect(await site.json('users', 'invite', '--role', 'owner')).toEqual({
    url: expect.stringMatching(/\/sign-in#rki_\w{40}$/),
    org: id,
    role: 'owner',
    expiresAt: expect.stringMatching(/Z$/),
  })
  await site.json('users', 'invite', 'ada@people.example', '--role', 'owner')
  await site.sql(`UPDATE users SET state = 'ACTIVE'`)
  expect((await site.run('users', 'invite', '--role', 'owner')).stderr).toMatch(refusal)
})
