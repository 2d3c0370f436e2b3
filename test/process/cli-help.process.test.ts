// The help texts of the command line: every command and option, with its environment variable and default.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { program } from '../../src/cli/program.ts'
import { expectDone, siteForTest } from '../support/program.ts'
import { testTerminal } from '../support/test-terminal.ts'

/** A terminal for commands that are only asked for their help. */
const silent = testTerminal()

const place = ['--data-dir', '--database-url', '--secret-key-file']
const variableOf = (option: string) => `ROOMKEEPER_${option.slice(2).replaceAll('-', '_').toUpperCase()}`
/** As one line, whatever the width of the terminal. */
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')
const help = async (...command: string[]) => {
  const ended = await (await siteForTest()).launch([...command, '--help']).exit()
  expectDone(ended)
  return oneLine(ended.stdout)
}

test('help of the program names every command', async () => {
  const text = await help()
  const names = program(silent).commands.map((command) => command.name())
  expect(names).toContain('restore')
  for (const name of names.filter((name) => name !== 'backup-process')) expect(text).toContain(` ${name} `)
})

test('help of the program shows commands that open the database apart from those over HTTP', () => {
  const [, database = '', http = ''] = program(silent)
    .helpInformation()
    .split(
      /^Commands that (?:open the database, on the machine of the server|talk to a server over HTTP, from any machine):\n/m,
    )
  const namesIn = (group: string) =>
    [...(group.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
  expect(namesIn(database)).toEqual(
    expect.arrayContaining(['serve', 'doctor', 'keys', 'login-link', 'backup', 'restore']),
  )
  expect(namesIn(http).sort()).toEqual([
    ...['api', 'apply', 'context', 'document-schema', 'endpoints', 'export', 'gateway-devices'],
    ...['mcp', 'plan', 'rooms', 'source-devices'],
  ])
})

test('help of serve explains every option with its environment variable and its default', async () => {
  const text = await help('serve')
  const options = ['--port', '--host', '--mqtt-port', '--public-url', '--trust-proxy', '--tls-cert', '--tls-key']
  const keeping = [
    '--sample-retention',
    '--rollup-retention',
    '--daily-retention',
    '--room-freshness',
    '--idle-minutes',
  ]
  for (const option of [...options, ...keeping, ...place]) {
    expect(text).toMatch(new RegExp(` ${option} <[^>]+> [^<]*env: ${variableOf(option)}\\)`))
  }
  for (const byDefault of ['8080', '"127.0.0.1"', '"./data"', '30', '730', '"ever"', '15'])
    expect(text).toContain(`(default: ${byDefault}, env:`)
})

test.each([
  ['org create', ['--timezone']],
  ['org timezone', []],
  ['org list', []],
  ['keys create', ['--org', '--name', '--scope', '--manage', '--region', '--expires']],
  ['keys list', ['--org']],
  ['keys revoke', ['--org']],
  ['users list', ['--org']],
  ['identity show', ['--org']],
  ['identity disable', ['--org']],
  ['audit verify', ['--org', '--expect']],
  ['audit head', ['--org']],
  ['migrate', []],
  ['nodes', []],
])('help of %s explains its options, and those of the database with their environment variables', (path, own) => {
  // Only the text is looked at, so this asks the command instead of starting it.
  const text = oneLine(commandAt(program(silent), path).helpInformation())
  expect(text).toContain(`Usage: roomkeeper ${path} `)
  for (const option of [...own, '--json']) expect(text).toContain(` ${option} `)
  for (const option of place) expect(text).toMatch(new RegExp(` ${option} <[^>]+> [^<]*env: ${variableOf(option)}\\)`))
})

const commandAt = (root: Command, path: string) =>
  path.split(' ').reduce((command, name) => {
    const next = command.commands.find((c) => c.name() === name)
    if (!next) throw new Error(`there is no command ${path}`)
    return next
  }, root)

test('a reader that closes the pipe early, such as head, is no error', () => {
  const line = `'${process.execPath}' bin/roomkeeper.js openapi | head -1; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', line], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  })
  expect({ stdout, stderr }).toEqual({ stdout: '{\n0\n', stderr: '' })
})
