// The process of systeminformation: what it answers on this machine, and what happens when it hangs or ends.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { folderInMemory } from '../../../test/support/memory-folder.ts'
import { until } from '../../../test/support/program.ts'
import { minuteMs } from '../../contract/durations.ts'
import { minuteCalls, systemCalls } from './calls.ts'
import { SystemInformation } from './system-information.ts'

function newReader(options: { file?: URL; timeoutMs?: number } = {}) {
  const problems: string[] = []
  const reader = new SystemInformation({ onProblem: (text) => void problems.push(text), ...options })
  onTestFinished(() => reader.stop())
  return { reader, problems }
}

/** A program in place of that of systeminformation. Its folder has a file with the id of each process that it starts. */
function standIn(program: string): { file: URL; folder: string } {
  const folder = mkdtempSync(join(folderInMemory(), 'roomkeeper-system-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'process.mjs')
  writeFileSync(file, `const folder = ${JSON.stringify(folder)}\n${program}`)
  return { file: pathToFileURL(file), folder }
}

const isRunning = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

test('systeminformation says how much memory and storage this machine has', async () => {
  const { reader, problems } = newReader()
  const { mem, fsSize } = await reader.read(minuteCalls)
  expect(mem?.total).toBeGreaterThan(0)
  expect(fsSize?.some(({ mount, size }) => mount === '/' && size > 0)).toBe(true)
  expect(problems).toEqual([])
})

test('a round of a minute costs less than 1 % of a core', async () => {
  const { reader } = newReader()
  await reader.read(minuteCalls)
  const pids = execFileSync('ps', ['-o', 'pid=', '--ppid', String(process.pid)], { encoding: 'utf8' }).match(/\d+/g)
  const pid = pids?.find((one) => existsSync(`/proc/${one}`) && commandOf(one).includes('computer/system/process'))
  const before = cpuMs(pid)
  const rounds = 5
  for (let round = 0; round < rounds; round++) await reader.read(minuteCalls)
  expect((cpuMs(pid) - before) / rounds).toBeLessThan(0.01 * minuteMs)
})

const commandOf = (pid: string) => readFileSync(`/proc/${pid}/cmdline`, 'utf8')
/** The CPU time of a process and of the programs that it has started; a tick of Linux is 10 ms. */
const cpuMs = (pid = 'none') => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
}

test('only calls without arguments are made, and none that the background of the package warns of', () => {
  const source = readFileSync(join(import.meta.dirname, 'process.ts'), 'utf8')
  expect([...source.matchAll(/\bsi\b[^']*?\([^)]*\)/g)].map(([call]) => call)).toEqual(['si[call]()'])
  expect(systemCalls).toEqual(['system', 'osInfo', 'bios', 'cpu', 'mem', 'cpuTemperature', 'fsSize'])
})

test('a process that hangs is ended with everything that it started, and the next call gets a new one', async () => {
  const { file, folder } = standIn(`
    import { spawn } from 'node:child_process'
    import { writeFileSync } from 'node:fs'
    process.on('message', ({ id, call }) => {
      if (call === 'mem') return process.send({ id, value: { total: process.pid } })
      const { pid } = spawn('sleep', ['600'])
      writeFileSync(folder + '/pids', process.pid + ' ' + pid)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`)
  // Longer than a process takes to start on a busy machine.
  const { reader, problems } = newReader({ file, timeoutMs: 4_000 })
  const { mem, fsSize } = await reader.read(['fsSize', 'mem'])
  expect(fsSize).toBeUndefined()
  const pids = readFileSync(join(folder, 'pids'), 'utf8').split(' ').map(Number)
  expect(pids).toHaveLength(2)
  expect(mem?.total).toBeGreaterThan(0)
  expect(pids).not.toContain(mem?.total)
  await until('both have ended', () => pids.every((pid) => !isRunning(pid)))
  expect(problems).toEqual(['Reading "fsSize" took longer than 4 s. It is tried again in an hour.'])

  rmSync(join(folder, 'pids'))
  expect(await reader.read(['fsSize', 'mem'])).toEqual({ mem })
  expect(existsSync(join(folder, 'pids')), 'a call that hung is not made again soon').toBe(false)
})

test('a process that ends costs one answer', async () => {
  const { file } = standIn(`
    process.on('message', ({ id, call }) => {
      if (call === 'system') process.exit(1)
      process.send({ id, ...(call === 'bios' ? { error: 'no such file' } : { value: { total: 1 } }) })
    })`)
  const { reader, problems } = newReader({ file })
  expect(await reader.read(['system', 'bios', 'mem'])).toEqual({ mem: { total: 1 } })
  expect(problems).toEqual(['Reading "system" failed: the process has ended', 'Reading "bios" failed: no such file'])
})

test('calls are made one at a time, even if two readers ask', async () => {
  const { file } = standIn(`
    let running = 0
    process.on('message', ({ id }) => {
      const together = ++running
      setTimeout(() => { running--; process.send({ id, value: { total: together } }) }, 50)
    })`)
  const { reader } = newReader({ file })
  const answers = await Promise.all([reader.read(['mem', 'cpu']), reader.read(['mem', 'bios'])])
  expect(answers.flatMap((answer) => Object.values(answer))).toEqual(Array.from({ length: 4 }, () => ({ total: 1 })))
})
