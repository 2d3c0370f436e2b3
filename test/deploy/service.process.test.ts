// The systemd units: systemd accepts them, rates their protection at 3 or better, and they allow what their programs do.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { beforeAll, expect, test } from 'vitest'
import { computerOptions } from '../../src/cli/command-options.ts'
import { gatewayOptions, needsPersonExitStatus } from '../../src/cli/gateway-options.ts'
import { serveOptions } from '../../src/server/config/options.ts'
import { timeLimits } from '../../src/server/core/time-limits.ts'
import { need } from '../support/debian.ts'
import { send } from '../support/harness.ts'
import { ready, siteForTest, startTimeoutMs, until } from '../support/program.ts'

const run = promisify(execFile)
const readUnit = (name: string) => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8')
const unit = readUnit('roomkeeper.service')
const computerUnit = readUnit('roomkeeper-computer.service')
/** The values of all lines with this name. */
const settings = (of: string, name: string) =>
  [...of.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)

beforeAll(() => {
  need('systemd-analyze', 'strace')
})

test.each(['roomkeeper.service', 'roomkeeper-computer.service', 'roomkeeper-gateway.service'])(
  'systemd accepts the unit %s without a warning, and rates its exposure at 3 or less',
  async (name) => {
    const site = await siteForTest()
    const file = join(site.dataDir, name)
    // systemd looks whether the program is there, which it is not before the installation.
    writeFileSync(file, readUnit(name).replace('/opt/roomkeeper/node_modules/.bin/roomkeeper', process.execPath))
    const env = { ...process.env, LC_ALL: 'C', SYSTEMD_LOG_LEVEL: 'warning' }
    const verified = await run('systemd-analyze', ['verify', file], { env })
    expect(verified.stdout + verified.stderr).toBe('')
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', file], { env })
    const [, exposure] = /Overall exposure level for [\w.-]+: ([\d.]+)/.exec(stdout) ?? []
    expect(Number(exposure)).toBeGreaterThan(0)
    expect(Number(exposure)).toBeLessThanOrEqual(3)
  },
)

test('the unit names only settings that exist, and stops no request that the server would still finish', () => {
  const used = [...unit.matchAll(/ROOMKEEPER_\w+/g)].map(([name]) => name)
  expect(used).toEqual(['ROOMKEEPER_CONFIG', 'ROOMKEEPER_DATA_DIR'])
  expect(serveOptions.map(({ env }) => env)).toEqual(expect.arrayContaining(used))
  const stopDelaySeconds = Number(serveOptions.find(({ flag }) => flag.startsWith('--stop-delay'))?.default)
  // Requests that still run have 5 seconds more.
  const stopSeconds = stopDelaySeconds + timeLimits.deviceReleaseMs / 1000 + 5
  expect(Number(settings(unit, 'TimeoutStopSec')[0])).toBeGreaterThan(stopSeconds)
})

test('the unit of the gateway names variables that its command has, and does not start it again when a person is needed', () => {
  const gatewayUnit = readUnit('roomkeeper-gateway.service')
  const command = gatewayOptions(new Command())
  const known = command.options.map(({ envVar }) => envVar)
  const used = [...gatewayUnit.matchAll(/ROOMKEEPER_\w+/g)].map(([name]) => name)
  expect(used.length).toBeGreaterThan(2)
  expect(known).toEqual(expect.arrayContaining(used))
  const compose = readUnit('gateway-compose.yaml')
  expect(known).toEqual(expect.arrayContaining([...compose.matchAll(/ROOMKEEPER_\w+/g)].map(([name]) => name)))
  expect(gatewayUnit).toContain(`RestartPreventExitStatus=${needsPersonExitStatus}\n`)
  const page = readFileSync(join(import.meta.dirname, '../../docs/gateway.md'), 'utf8')
  for (const { flags, envVar } of command.options) expect(page).toContain(`| \`${flags}\` | \`${envVar}\` |`)
})

test('every system call and kind of socket of the server, from its start to its end, is allowed by the unit', async () => {
  const site = await siteForTest()
  const trace = join(site.dataDir, 'system-calls')
  // With -D the server is the child of the test, and strace watches from aside.
  const starter = ['strace', '-D', '-f', '-s', '0', '-o', trace]
  const server = await ready(site.launch(['serve', '--port', '0', '--host', '0.0.0.0', ...site.flags], { starter }))
  const path = `/v1/orgs/${server.org}/regions`
  expect((await send(server.url, 'POST', path, { key: server.key, body: { name: 'Europe' } })).status).toBe(200)
  expect((await server.stop()).code).toBe(0)
  const { used, refused, families } = await callsIn(trace, unit)
  expect(used.size).toBeGreaterThan(30)
  // SQLite gives its files to the owner of the database only if it runs as root, as tests may; the unit's user is not root.
  expect(refused.filter((name) => name !== 'fchown')).toEqual([])
  expect(families).toContain('AF_INET')
  expect(settings(unit, 'RestrictAddressFamilies')[0]?.split(' ')).toEqual(expect.arrayContaining([...families]))
})

test('every system call and kind of socket of a computer, and of the programs that it starts, is allowed by its unit', async () => {
  const site = await siteForTest()
  const server = await site.serveHere()
  const path = `/v1/orgs/${server.org}/rooms`
  const { dec } = (await send(server.url, 'POST', path, { key: server.key, body: { name: 'Fjord' } })).body
  const trace = join(site.dataDir, 'system-calls')
  const starter = ['strace', '-D', '-f', '-s', '0', '-o', trace]
  const folder = join(site.dataDir, 'computer')
  const computer = site.launch(['computer', '--url', server.url, '--code', dec, '--data-dir', folder], { starter })
  await computer.printed(/^Connected\.$/m, 'stdout', startTimeoutMs)
  expect((await computer.stop()).code).toBe(0)
  const { used, refused, families } = await callsIn(trace, computerUnit)
  expect(used.size).toBeGreaterThan(30)
  expect(refused).toEqual([])
  expect(settings(computerUnit, 'RestrictAddressFamilies')[0]?.split(' ')).toEqual(
    expect.arrayContaining([...families]),
  )
})

test('the unit of a computer names only options that exist, and its document has all of them', () => {
  const used = [...computerUnit.matchAll(/ROOMKEEPER_\w+/g)].map(([name]) => name)
  expect(used).toEqual(['ROOMKEEPER_COMPUTER_URL', 'ROOMKEEPER_COMPUTER_CODE', 'ROOMKEEPER_COMPUTER_DATA_DIR'])
  expect(computerOptions.map(({ env }) => env)).toEqual(expect.arrayContaining(used))
  expect(computerUnit).toContain(`RestartPreventExitStatus=${needsPersonExitStatus}\n`)
  const page = readFileSync(join(import.meta.dirname, '../../docs/computer.md'), 'utf8')
  for (const { flag, env } of computerOptions) expect(page).toContain(`| \`${flag}\` | \`${env}\` |`)
})

/** The system calls of a program and of all that it started, and those that a unit refuses. */
async function callsIn(trace: string, of: string) {
  const lines = await until('the end of the trace', () => {
    const text = readFileSync(trace, 'utf8')
    return /^\d+ +\+\+\+ exited with 0 \+\+\+\n$/m.test(text.slice(-200)) && text
  })
  const used = new Set([...lines.matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = '']) => name))
  const families = new Set([...lines.matchAll(/ socket\((AF_\w+)/g)].map(([, family = '']) => family))
  const allowed = new Set<string>()
  for (const filter of settings(of, 'SystemCallFilter')) {
    const names = await expand(filter.replace('~', '').split(' '))
    for (const name of names) filter.startsWith('~') ? allowed.delete(name) : allowed.add(name)
  }
  return { used, refused: [...used].filter((name) => !allowed.has(name)), families }
}

/** Replaces groups such as @system-service by the names in them. */
async function expand(names: readonly string[]): Promise<string[]> {
  const lists = names.map(async (name) => {
    if (!name.startsWith('@')) return [name]
    const { stdout } = await run('systemd-analyze', ['syscall-filter', '--no-pager', name])
    return expand([...stdout.matchAll(/^ {4}([@\w-]+)$/gm)].map(([, inner = '']) => inner))
  })
  return (await Promise.all(lists)).flat()
}
