// `roomkeeper device-check` with real devices: the example in Python, the agent, and a device that is wrong in many ways.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { allSteps } from '../../src/cli/device-check/steps.ts'
import { certificate } from '../support/certificate.ts'
import { need, pahoClient } from '../support/debian.ts'
import { runAgentDevice, runWrongDevice } from '../support/devices/checked-devices.ts'
import { engine } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { untilPrinted } from '../support/program.ts'
import { RunningHere, runHere } from '../support/run-here.ts'

/** Debian's own, because its package puts paho beside it. */
const python = '/usr/bin/python3'
const pythonDevice = join(import.meta.dirname, '../../examples/python-device/device.py')
const anyPorts = ['--port', '0', '--mqtt-port', '0']

interface Result {
  readonly id: string
  readonly step: string
  readonly state: 'right' | 'wrong' | 'never' | 'not run'
  readonly seen?: string
  readonly advice?: string
  readonly link: string
}

interface Outcome {
  readonly code: number | null
  readonly ok: boolean
  readonly checks: readonly Result[]
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs device-check with these steps, or all, and a device that gets the address and the code. */
async function check(
  only: string | undefined,
  run: (url: string, code: string) => void | Promise<void>,
  ...args: string[]
): Promise<Outcome> {
  const chosen = only === undefined ? [] : ['--only', only]
  const command = new RunningHere(['device-check', '--json', ...anyPorts, ...chosen, ...args])
  onTestFinished(async () => void (await command.stop()))
  const [, url = ''] = await untilPrinted(command, /^ {2}Address {2}(\S+)$/m, 'stderr')
  const [, code = ''] = await untilPrinted(command, /^ {2}Code {5}(\S+)$/m, 'stderr')
  await run(url, code)
  const ended = await command.exit()
  expect(ended.stdout, ended.stderr).not.toBe('')
  return { code: ended.code, ...JSON.parse(ended.stdout) }
}

const idsOf = ({ checks }: Outcome, state: Result['state']) =>
  checks.filter((result) => result.state === state).map(({ id }) => id)

/** Nothing is wrong, and everything about these steps was seen, except what the device says it cannot do. */
function expectPassed(outcome: Outcome, walked: readonly string[]): void {
  const missed = outcome.checks.filter(
    ({ state, step, seen = '' }) =>
      state === 'wrong' || (state === 'never' && walked.includes(step) && !seen.startsWith('The device says in')),
  )
  expect(missed).toEqual([])
  expect([outcome.code, outcome.ok]).toEqual([0, true])
  for (const step of walked) expect(outcome.checks.some((result) => result.step === step)).toBe(true)
}

/** The server of device-check is the same, whatever database the tests use. */
describe.runIf(engine === 'sqlite')('device-check', () => {
  beforeAll(() => need(pahoClient))

  /** Starts the example in a folder of its own. */
  const runPython = (url: string, code: string, env: Record<string, string>) => {
    const args = [pythonDevice, url, code, '--interval', '1']
    const child = spawn(python, args, { cwd: newFolder(), env: { ...process.env, ...env }, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
  }

  test('the example in Python passes, over TLS', async () => {
    const { cert, key } = certificate({ dataDir: newFolder() })
    const only = isFullForm ? undefined : 'samples,config,commands'
    const run = (url: string, code: string) => runPython(url, code, { SSL_CERT_FILE: cert })
    const outcome = await check(only, run, '--tls-cert', cert, '--tls-key', key)
    expectPassed(outcome, only?.split(',') ?? allSteps)
  })

  test('the agent passes', async () => {
    const only = isFullForm ? undefined : 'answers,takeover,acknowledgement'
    expectPassed(await check(only, runAgentDevice), only?.split(',') ?? allSteps)
  })

  test('a device that does much wrong is told so, with what was seen, what to do and where to read', async () => {
    const shortSteps = 'samples,reconnect,config,commands,answers,takeover'
    const outcome = await check(isFullForm ? undefined : shortSteps, runWrongDevice)
    expect(outcome.code).toBe(1)
    const inShortForm = [
      'enrolment.retry',
      'connection.reports',
      'connection.qos',
      'messages.accepted',
      'samples.accepted',
      'samples.time',
      'samples.units',
      'reconnect.waits',
      'config.rejected',
      'config.unset',
      'config.passwords',
      'config.remembered',
      'command.reboot',
      'command.collect-logs',
      'command.expired',
      'command.unknown',
      'answers.no-loop',
      'takeover.waits',
    ]
    const others = ['outage.waits', 'acknowledgement.again', 'unenrolment.stops']
    expect(idsOf(outcome, 'wrong')).toEqual(expect.arrayContaining(inShortForm))
    if (isFullForm) expect(idsOf(outcome, 'wrong')).toEqual(expect.arrayContaining(others))
    else expect(idsOf(outcome, 'wrong')).toHaveLength(inShortForm.length)
    for (const result of outcome.checks.filter(({ state }) => state === 'wrong')) {
      expect(result).toMatchObject({ seen: expect.any(String), advice: expect.any(String) })
      expect(result.link).toMatch(/^docs\/device-protocol\.md#[a-z-]+$/)
    }
  })

  test('without a device it fails after the time limit, and Ctrl-C ends it earlier; neither leaves anything behind', async () => {
    const folder = newFolder()
    const { TMPDIR: before } = process.env
    process.env.TMPDIR = folder
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    })
    const ended = await runHere(['device-check', ...anyPorts, '--wait', '1'])
    expect([ended.code, ended.stderr.trim().split('\n').at(-1)]).toEqual([1, '1 check failed.'])
    expect(ended.stdout).toMatch(/^ {2}WRONG {2}enrolment\.request .*\n {9}seen: No device asked for an enrolment\.$/m)

    const command = new RunningHere(['device-check', ...anyPorts])
    await untilPrinted(command, /Step 1 of 11/, 'stderr')
    expect(readdirSync(folder)).toHaveLength(1)
    const stopped = await command.stop('SIGINT')
    expect([stopped.code, stopped.stderr.trim().split('\n').at(-1)]).toEqual([1, 'Stopped before the end.'])
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    [['--host', '0.0.0.0'], '--host must be the address that the device uses, such as 192.168.1.10.'],
    [['--tls-cert', 'x.pem'], '--tls-cert and --tls-key belong together. Give both.'],
    [['--only', 'everything'], /The steps are samples, reconnect/],
  ])('%j is refused with a sentence', async (args, sentence) => {
    const ended = await runHere(['device-check', ...anyPorts, ...args])
    expect(ended.code).toBe(1)
    expect(ended.stderr.trim()).toMatch(sentence)
  })
})
