// Runs the commands of docs/first-steps.md and compares their answers; checks the commands of all pages that no other suite runs.
import { execFile } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../src/server/app.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { need } from '../support/debian.ts'
import { newPlace, quiet } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { siteForTest, startTimeoutMs, terminalStarter, testProgramFolder } from '../support/program.ts'

const root = join(import.meta.dirname, '../..')
const pages = [...globSync('*.md', { cwd: root }), ...globSync('docs/*.md', { cwd: root })]
const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
const firstSteps = readFileSync(join(root, 'docs/first-steps.md'), 'utf8')
const tour = firstSteps.slice(firstSteps.indexOf('## The API with curl'), firstSteps.indexOf('## From TypeScript'))
const blocks = [...tour.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
  language,
  text: text as string,
}))

let service: Awaited<ReturnType<typeof startService>>
let place: Awaited<ReturnType<typeof newPlace>>
beforeAll(async () => {
  need('curl')
  place = await newPlace()
  service = await startService({ ...quiet, ...place.place }, makeLog('silent'))
})
afterAll(async () => {
  await service.close()
  await place.remove()
})

/** Values that differ from run to run; everything else must be as the page says. */
const volatile = new Set(['enrolmentUrl', 'requestId', 'timestamp', 'createdAt', 'dec', 'nextPageToken'])
const steady = (text: string) =>
  JSON.parse(text, (key, value) => (volatile.has(key) ? `(some ${typeof value})` : value))

test('the first steps run as they are written', async () => {
  const [setup, ...steps] = blocks
  const { first, url } = service
  expect(setup?.text).toContain('export ROOMKEEPER=')
  const prelude = (setup?.text ?? '')
    .split('\n')
    .filter((line) => !line.startsWith('export'))
    .join('\n')
  const { dataDir, databaseUrl } = place.place
  const env = {
    PATH: process.env.PATH,
    ROOMKEEPER: url,
    ORG: first?.org,
    KEY: first?.key,
    ROOMKEEPER_DATA_DIR: dataDir,
    ...(databaseUrl && { ROOMKEEPER_DATABASE_URL: databaseUrl }),
  }
  let compared = 0
  for (let i = 0; i + 1 < steps.length; i += 2) {
    const [command, expected] = [steps[i], steps[i + 1]]
    expect(command?.language).toBe('sh')
    const script = `${prelude}\n${command?.text}`.replace(
      'npm run --silent roomkeeper --',
      `"${process.execPath}" ${testProgramFolder}/bin/roomkeeper.js`,
    )
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { env, cwd: root })
    if (expected?.language === 'json') expect(steady(stdout), command?.text).toEqual(steady(expected.text))
    else expect(stdout.trim()).toBe(expected?.text.trim().replace(/^\w+/, first?.org as string))
    compared++
  }
  expect(compared).toBe(9)

  const [, program = '', printed = ''] = /```ts\n([\s\S]*?)```\n```text\n([\s\S]*?)```/.exec(firstSteps) ?? []
  const args = ['--input-type=module-typescript', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: root })
  expect(stdout).toBe(printed)
})

/** Replaces the values that differ from start to start. */
const withoutVaryingValues = (text: string) =>
  text
    .replaceAll('\r', '')
    .replaceAll(/http:\/\/localhost:\d+/g, '(address)')
    .replaceAll(/rki?_\w+/g, '(secret)')
    .replaceAll(/(Organisation {2}|\/orgs\/)[\w-]{7}/g, '$1(organisation)')

test('on a terminal, the first start prints what docs/first-steps.md shows', async () => {
  const shown = /```text\n(Roomkeeper is ready at[\s\S]*?)```/.exec(firstSteps)?.[1] ?? ''
  const site = await siteForTest()
  const options = ['serve', '--port', '0', '--log-level', 'silent', ...site.flags]
  const server = site.launch(options, { starter: terminalStarter() })
  await server.printed(/^Open the console: .*\)$/m, 'stdout', startTimeoutMs)
  expect(withoutVaryingValues(server.stdout).trim()).toBe(withoutVaryingValues(shown).trim())
})

test('every npm script and every program that the documents name exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const named = [...text.matchAll(/\bnpm (?:run (?:--silent )?([a-z][\w:]*)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short,
  )
  expect(named).toEqual(expect.arrayContaining(['start', 'test', 'demo', 'roomkeeper', 'bench', 'screenshots']))
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...new Set(named)]))
  const programs = [...text.matchAll(/\bnode ([\w./-]+\/[\w./-]+\.[jt]s)\b/g)].map(([, path]) => path as string)
  expect(programs).toContain('bench/demo-day.ts')
  for (const path of programs) expect(existsSync(join(root, path)), path).toBe(true)
})

test('the benches load, and an unknown name is refused with the list of names', async () => {
  const bench = promisify(execFile)(process.execPath, ['bench/bench.ts', 'none'], { cwd: root })
  await expect(bench).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('Choose from reads, ') })
})

// A benchmark: `npm test` only checks above that its file exists.
test.runIf(isFullForm)('the simulated day of docs/incidents.md runs, with fewer devices and hours', async () => {
  const args = ['bench/demo-day.ts', '--devices', '100', '--flap', '5%', '--hours', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  expect(stdout).toMatch(/connects and disconnects +\d+\nmessages about incidents +\d+\nfewer messages +9\d\.\d+ %/)
})
