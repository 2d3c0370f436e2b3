// Runs the commands of docs/first-steps.md and compares their answers; compares the README with what a first start prints.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../src/server/app.ts'
import { makeLog } from '../../src/server/core/log.ts'
import { need } from '../support/debian.ts'
import { newPlace, quiet } from '../support/harness.ts'

const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const firstSteps = readFileSync(join(root, 'docs/first-steps.md'), 'utf8')
const tour = firstSteps.slice(0, firstSteps.indexOf('## From TypeScript'))
const blocks = [...tour.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
  language,
  text: text as string,
}))

let service: Awaited<ReturnType<typeof startService>>
let place: Awaited<ReturnType<typeof newPlace>>
beforeAll(async () => {
  need('curl', 'curl')
  place = await newPlace()
  service = await startService({ ...quiet, ...place.place }, makeLog('silent'))
})
afterAll(async () => {
  await service.close()
  await place.remove()
})

/** Values that differ from run to run; everything else must be as the page says. */
const volatile = new Set(['requestId', 'timestamp', 'createdAt', 'dec', 'nextPageToken'])
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
      `"${process.execPath}" bin/roomkeeper.js`,
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

test('the first start prints what the README shows', () => {
  const shown = readme.slice(readme.indexOf('Roomkeeper is ready at'), readme.indexOf('## Demo'))
  const source = readFileSync(join(root, 'src/cli/serve.ts'), 'utf8')
  for (const line of shown.split('```')[0]?.split('\n') ?? []) {
    const words = line.replaceAll(/http\S+|rk_\w+|'Authorization.*'|wiL66VP/g, '').trim()
    if (words) expect(source).toContain(words.split(/\s{2,}/)[0])
  }
})
