// Export, plan, apply and import of CSV for an organisation with many rooms. The commands are processes of their own, so the turns that are
// measured here are those of the server.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Harness, startHarness, type TestOrg } from '../support/harness.ts'
import { cpuLimitMs, isFullForm, runCount } from '../support/long-form.ts'
import { longestTurn } from '../support/longest-turn.ts'
import { Program } from '../support/program.ts'
import type { Ended } from '../support/run-here.ts'

const longestTurnMs = cpuLimitMs(15)
/** A collection of garbage can fall into a turn, and a busy machine makes the same work take more CPU time: the shortest of these counts. */
const tries = 5
const maxCommandBytes = 700 * 1024 * 1024

let harness: Harness
let org: TestOrg
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-large-'))
const programs: Program[] = []
beforeAll(async () => {
  harness = await startHarness()
  org = await harness.newOrg()
})
afterAll(async () => {
  for (const program of programs) if (program.isRunning) await program.stop()
  await harness.close()
  rmSync(folder, { recursive: true })
})

const launch = (args: readonly string[]): Program => {
  const env = { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key }
  const program = new Program(args, { cwd: folder, env })
  programs.push(program)
  return program
}

interface Measured extends Ended {
  readonly seconds: number
  readonly turnMs: number
  readonly bytes: number
}

/** Runs a command to its end, and says what it took of the server and of itself. */
async function measured(...args: string[]): Promise<Measured> {
  const startedAt = performance.now()
  let bytes = 0
  let ended: Ended | undefined
  const turnMs = await longestTurn(async () => {
    const program = launch(args)
    const timer = setInterval(() => {
      bytes = Math.max(bytes, largestMemory(program.pid))
    }, 100)
    ended = await program.exit(600_000)
    clearInterval(timer)
  })
  return { ...(ended as Ended), seconds: (performance.now() - startedAt) / 1000, turnMs, bytes }
}

/** The most memory that a process has had so far; 0 if it has ended. */
function largestMemory(pid: number): number {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kibibytes ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Runs a command until its turns were short, because the longest turn of one run may be another one's fault. */
async function expectShortTurns(name: string, run: (attempt: number) => Promise<Measured>): Promise<void> {
  const all: Measured[] = []
  for (let attempt = 0; attempt < tries && all.every(({ turnMs }) => turnMs > longestTurnMs); attempt++) {
    all.push(await run(attempt))
  }
  const turnMs = Math.min(...all.map((one) => one.turnMs))
  const { seconds, bytes } = all.at(-1) as Measured
  report(name, { seconds, turnMs, bytes })
  expect(turnMs, name).toBeLessThanOrEqual(longestTurnMs)
  expect(bytes, name).toBeLessThan(maxCommandBytes)
}

const report = (name: string, { seconds, turnMs, bytes }: Pick<Measured, 'seconds' | 'turnMs' | 'bytes'>) =>
  process.stdout.write(
    `${name}: ${seconds.toFixed(1)} s, longest turn of the server ${turnMs.toFixed(1)} ms of CPU, ${Math.round(bytes / 1024 / 1024)} MiB in the command\n`,
  )

const roomCount = runCount({ short: 100, full: 10_000, long: 10_000 })
const timeoutMs = 1_200_000
const locationCount = 100
/** Rooms of one location each: `number` goes through the locations in turn. */
const documentOf = (first: number, count: number) => ({
  organisation: org.id,
  regions: Array.from({ length: 10 }, (_, r) => ({
    name: `Region ${r}`,
    locations: Array.from({ length: locationCount / 10 }, (_, l) => ({
      name: `Site ${l}`,
      timezone: 'Europe/Oslo',
      rooms: Array.from({ length: count }, (_, i) => first + i)
        .filter((number) => number % locationCount === r * 10 + l)
        .map((number) => ({
          name: `Room ${number}`,
          externalId: `R-${number}`,
          capacity: 1 + (number % 20),
          tags: ['quiet', 'video'],
          floor: String(number % 7),
          fields: { cost_centre: `C${number}`, owner: 'Größe AS', ...(isFullForm && sixFields) },
        })),
    })),
  })),
})
/** With these the export of 10,000 rooms has more than 4 MB. */
const sixFields = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`field_${i}`, 'A text of some words']))
const fileWith = (name: string, content: unknown): string => {
  const file = join(folder, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

test(`an organisation of ${roomCount} rooms is made, exported, planned and changed in short turns of the server`, {
  timeout: timeoutMs,
}, async () => {
  const made = await measured('apply', fileWith('all.json', documentOf(0, roomCount)), '--yes', '--json')
  // With --json the plan is on standard error.
  const lastLine = ({ stderr }: Measured) => stderr.trimEnd().split('\n').at(-1)
  expect([made.code, lastLine(made)]).toEqual([
    0,
    `Plan: ${roomCount + locationCount + 10} to create, 0 to change, 0 to delete.`,
  ])
  report(`apply of ${roomCount} new rooms`, made)
  expect(JSON.parse(made.stdout)).toMatchObject({ done: roomCount + locationCount + 10, notDone: [] })
  expect(made.bytes).toBeLessThan(maxCommandBytes)

  const exported = join(folder, 'export.yaml')
  await expectShortTurns('export', () => measured('export', '--output', exported))
  await expectShortTurns('plan of the export', async () => {
    const plan = await measured('plan', exported, '--prune')
    expect(plan).toMatchObject({ code: 0, stdout: 'Nothing to do.\n', stderr: '' })
    return plan
  })
  const text = readFileSync(exported, 'utf8')
  if (isFullForm) expect(text.length).toBeGreaterThan(4 * 1024 * 1024)
  await expectShortTurns('plan of another name for each room', async () => {
    const renamed = fileWith('renamed.yaml', text.replaceAll(/name: Room (\d+)/g, 'name: Raum $1'))
    const plan = await measured('plan', renamed, '--prune')
    expect([plan.code, plan.stdout.trimEnd().split('\n').at(-1)]).toEqual([
      2,
      `Plan: 0 to create, ${roomCount} to change, 0 to delete.`,
    ])
    return plan
  })
  await expectShortTurns('apply of 100 changes', async (attempt) => {
    const changed = text.replaceAll(/name: Room (\d{0,2})$/gm, `name: Room $1, ${attempt}`)
    const applied = await measured('apply', fileWith('changed.yaml', changed), '--yes', '--json')
    expect([applied.code, lastLine(applied)]).toEqual([0, 'Plan: 0 to create, 100 to change, 0 to delete.'])
    expect(JSON.parse(applied.stdout)).toMatchObject({ done: 100, notDone: [] })
    return applied
  })
})

// In the short form src/cli/csv/csv.http.test.ts imports rooms, and the test above measures the turns.
test.runIf(isFullForm)(
  'rooms from CSV are made with their codes in short turns, beside a running fleet',
  {
    timeout: timeoutMs,
  },
  async () => {
    const devices = 50
    const size = ['--endpoints', `${devices}`, '--rooms', `${devices}`, '--locations', '5', '--interval', '1']
    const fleetFile = ['--state', join(folder, 'fleet.json')]
    const address = ['--url', harness.url, '--org', org.id, '--key', org.key]
    const fleet = launch(['simulate', ...address, ...size, ...fleetFile])
    await fleet.printed(/^\d+ of \d+ devices .* are connected/m)
    const count = 1000
    await expectShortTurns(`import of ${count} rooms`, async (attempt) => {
      const rows = Array.from(
        { length: count },
        (_, n) => `Import ${attempt},Site ${n % 40},Room ${n},8,I-${attempt}-${n},C${n}`,
      )
      const header = 'region,location,room,capacity,external_id,field.cost_centre'
      const file = fileWith('rooms.csv', [header, ...rows].join('\n'))
      const output = join(folder, `answer-${attempt}.csv`)
      const imported = await measured('rooms', 'import', file, '--yes', '--output', output)
      expect(imported).toMatchObject({ code: 0, stderr: '' })
      expect(readFileSync(output, 'utf8').match(/,[0-9A-Z-]{14},http[^,]*,created\r\n/g)).toHaveLength(count)
      return imported
    })
    await fleet.stop('SIGINT')
  },
)
