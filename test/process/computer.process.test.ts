// `roomkeeper computer` as a process on this machine, against a real server: it enrols, reports, and obeys only what its owner allowed.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { computerCommand } from '../../src/cli/computer.ts'
import { minuteMs, secondMs } from '../../src/contract/durations.ts'
import { type Call, engine, send } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { costsOf, processTree } from '../support/process-costs.ts'
import { expectRefusal, type Program, type Site, siteForTest, until } from '../support/program.ts'
import { RunningHere } from '../support/run-here.ts'

const startedWithinMs = 120_000

/** A server with a room, and a computer that is started with its code. */
async function newComputer(site: Site) {
  const server = await site.serveHere()
  const call = async (method: string, path: string, given: Call = {}) =>
    send(server.url, method, `/v1/orgs/${server.org}${path}`, { key: server.key, ...given })
  const room = (await call('POST', '/rooms', { body: { name: 'Fjord' } })).body
  const folder = join(site.dataDir, '..', 'computer')
  const start = async (options: readonly string[] = [], env: Record<string, string> = {}): Promise<Program> => {
    const given = ['--url', server.url, '--code', room.dec, '--data-dir', folder]
    const program = site.launch(['computer', ...given, ...options], { env })
    await program.printed(/^Connected\.$/m, 'stdout', startedWithinMs)
    return program
  }
  const endpoint = async () => (await call('GET', `/rooms/${room.id}`)).body.endpoints[0]
  /** Waits for the end of the operation. */
  const ended = (id: string) =>
    until(`operation ${id} has ended`, async () => {
      const { body } = await call('GET', `/operations/${id}`)
      return ['SUCCEEDED', 'FAILED', 'EXPIRED', 'SKIPPED'].includes(body.state) && body
    })
  return { call, folder, start, endpoint, ended, room }
}

/** A program of the owner: a shell script in a folder of its own. */
function script(site: Site, name: string, lines: string): string {
  const folder = join(site.dataDir, '..', 'bin')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`)
  chmodSync(join(folder, name), 0o755)
  return join(folder, name)
}

test.runIf(engine === 'sqlite')(
  'it enrols with the code of a room, says what it is, and is asked for nothing that its owner did not allow',
  async () => {
    const { call, folder, start, endpoint, room } = await newComputer(await siteForTest())
    const program = await start()
    const { id } = await until('its status', async () => {
      const found = await endpoint()
      return found?.kind === 'COMPUTER' && found
    })
    const { body } = await call('GET', `/endpoints/${id}`)
    expect(body).toMatchObject({
      roomId: room.id,
      connected: true,
      kind: 'COMPUTER',
      actions: ['logs'],
      configKeys: [],
      firmwareVersion: expect.stringMatching(/\S/),
      totalSystemStorage: expect.stringMatching(/^\d+$/),
      startedAt: expect.stringMatching(/^\d{4}-/),
      name: hostname(),
    })
    expect(body).not.toHaveProperty('via')
    expect(body.facts.map(({ name }: { name: string }) => name)).toContain('kernel')
    expect(body.readings.map(({ name }: { name: string }) => name)).toContain('memoryUsed')
    expect(body.serial).not.toMatch(/^(?:-|0*)$/)
    const bootSeconds = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
    expect(Math.abs(Date.parse(body.startedAt) / 1000 - bootSeconds)).toBeLessThan(60)

    const reboot = await call('POST', `/endpoints/${id}/reboot`)
    expect([reboot.status, reboot.body.code]).toEqual([400, 'FAILED_PRECONDITION'])
    expect(reboot.body.message).toContain('cannot be restarted remotely')

    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const { credential } = JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8'))
    expect(statSync(join(folder, 'identity.json')).mode & 0o777).toBe(0o600)
    expect(program.stdout + program.stderr).not.toContain(credential)
    expect(program.stdout).toMatch(/^Enrolled at \S+ with the serial number .+\.\nConnected\.\n$/)
    expect(program.stderr).toBe('')

    // A second start needs neither the address nor the code.
    expect((await program.stop()).code).toBe(0)
    await start()
    expect((await endpoint()).id).toBe(id)
  },
)

// The figure of docs/computer.md is of five minutes; a minute is enough to see that it does not work all the time.
test.runIf(engine === 'sqlite' && isFullForm)('it takes less than 1 % of a core', async () => {
  const { call, start, endpoint } = await newComputer(await siteForTest())
  const program = await start()
  await until('its first status, with what is asked hourly', async () => {
    const found = await endpoint()
    if (!found) return false
    const { readings, facts } = (await call('GET', `/endpoints/${found.id}`)).body
    return readings?.length > 0 && facts?.length > 0
  })
  const measuredMs = minuteMs
  const before = costsOf(processTree(program.pid))
  await pause(measuredMs)
  const after = costsOf(processTree(program.pid))
  const share = (after.cpuSeconds - before.cpuSeconds) / (measuredMs / secondMs)
  process.stdout.write(`${JSON.stringify({ share, before, after })}\n`)
  expect(share).toBeLessThan(0.01)
})

test.runIf(engine === 'sqlite')(
  'a reboot that its owner no longer allows is refused in words; an allowed one succeeds only after a new start of the machine',
  async () => {
    const site = await siteForTest()
    const { call, folder, start, endpoint, ended } = await newComputer(site)
    const log = join(site.dataDir, '..', 'reboots')
    const allow = ['--allow-reboot', '--reboot-command', `${script(site, 'restart', `echo "$1" >> ${log}`)} now`]
    const first = await start(allow)
    const { id } = await until('its actions', async () => {
      const found = await endpoint()
      return found && (await call('GET', `/endpoints/${found.id}`)).body.actions?.includes('reboot') && found
    })
    const ask = async (): Promise<string> => (await call('POST', `/endpoints/${id}/reboot`)).body.operations[0].id

    // The server has sent it, and the program has not read it, when the owner takes the permission back.
    first.signal('SIGSTOP')
    const late = await ask()
    await first.stop('SIGKILL')
    const second = await start()
    expect(await ended(late)).toMatchObject({ state: 'FAILED', error: expect.stringContaining('has not allowed') })
    expect(existsSync(log)).toBe(false)
    expect(second.stderr).toBe('')
    await second.stop()

    const third = await start(allow)
    await until('the action is back', async () =>
      (await call('GET', `/endpoints/${id}`)).body.actions.includes('reboot'),
    )
    const wanted = await ask()
    await until('the command of the owner', () => existsSync(log))
    // The program starts again, and the machine does not.
    await third.stop('SIGKILL')
    const fourth = await start(allow)
    expect(await ended(wanted)).toMatchObject({ state: 'FAILED', error: 'The computer did not restart.' })

    const again = await ask()
    await until('the command of the owner', () => readFileSync(log, 'utf8') === 'now\nnow\n')
    await fourth.stop('SIGKILL')
    const file = join(folder, 'state.json')
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), bootId: 'an earlier start' }))
    await start(allow)
    expect(await ended(again)).toMatchObject({ state: 'SUCCEEDED' })
    expect(readFileSync(log, 'utf8'), 'no reboot was carried out twice').toBe('now\nnow\n')
  },
)

test.runIf(engine === 'sqlite')(
  'it shows messages, sends the journal, and forgets its identity when it is unenrolled',
  async () => {
    const site = await siteForTest()
    const { call, folder, start, endpoint, ended } = await newComputer(site)
    const shown = join(site.dataDir, '..', 'shown')
    script(site, 'journalctl', 'echo "$@"; echo "2026-11-17T08:00:00+0000 room-4 kernel: usb 1-3: disconnected"')
    const message = script(site, 'show', `cat > ${shown}.new && mv ${shown}.new ${shown}`)
    const path = `${join(message, '..')}:${process.env.PATH}`
    const program = await start(['--allow-message', '--message-command', message], { PATH: path })
    const { id } = await until('its actions', async () => {
      const found = await endpoint()
      return found && (await call('GET', `/endpoints/${found.id}`)).body.actions?.includes('message') && found
    })
    const text = '--help; $(reboot) <b>Please leave.</b>\nThank you.'
    const sent = await call('POST', '/endpoints/send_message', { body: { message: text, endpointIds: [id] } })
    expect(await ended(sent.body.operations[0].id)).toMatchObject({ state: 'SUCCEEDED' })
    expect(readFileSync(shown, 'utf8')).toBe(text)

    const report = (await call('POST', '/endpoints/generate_bug_report', { body: [id] })).body
    await until('the logs', async () => {
      const { body } = await call('GET', `/bug_reports/${report.supportId}`)
      return body.endpoints[0].state === 'UPLOADED'
    })
    const bundle = await fetchBundle(site)
    expect(bundle).toContain('usb 1-3: disconnected')
    expect(bundle).toContain('--since=-24h --lines=200000')

    await call('DELETE', `/endpoints/${id}`)
    const { code, stderr } = await program.exit()
    expect([code, stderr]).toEqual([78, 'This computer was unenrolled. Its credential is deleted.\n'])
    expect(Object.keys(JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8')))).toEqual(['unenrolledAt'])
    expect(existsSync(join(folder, 'state.json'))).toBe(false)
    const again = new RunningHere(['computer', '--url', 'http://127.0.0.1:9', '--code', 'X', '--data-dir', folder])
    expectRefusal(await again.exit(), /was unenrolled at .* delete .* and start with a new --code/)
  },
)

/** The text of the only bundle that the server has. */
async function fetchBundle(site: Site): Promise<string> {
  const { globSync } = await import('node:fs')
  const [file = ''] = globSync(join(site.dataDir, 'bundles/**/*')).filter((path) => statSync(path).isFile())
  return gunzipSync(readFileSync(file)).toString()
}

test.runIf(engine === 'sqlite')(
  'an option that is missing, and a system that is not supported yet, are named in a sentence',
  async () => {
    const folder = join((await siteForTest()).dataDir, 'computer')
    const run = (...args: string[]) => new RunningHere(['computer', ...args]).exit()
    expectRefusal(await run(), /Name a folder .* with --data-dir/)
    expectRefusal(await run('--data-dir', folder), /not enrolled\. Give --url and --code/)
    expectRefusal(
      await run('--data-dir', folder, '--url', 'rooms.example.org'),
      /--url \(or ROOMKEEPER_COMPUTER_URL\) must be/,
    )
    expectRefusal(await run('--data-dir', folder, '--reboot-command', 'x'), /--reboot-command needs --allow-reboot/)
    expectRefusal(await run('--data-dir', '/dev/null/x'), /Cannot make \/dev\/null\/x \(ENOTDIR\)/)
    const terminal = {} as Parameters<typeof computerCommand>[0]
    await expect(computerCommand(terminal, { dataDir: folder }, 'darwin')).rejects.toThrow(
      'Only Linux is supported, and this system is darwin. A gateway with the driver "reach" can check this computer.',
    )
  },
)
