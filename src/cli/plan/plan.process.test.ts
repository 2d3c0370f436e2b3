// plan and apply as processes of their own: pipes, exit codes, kill -9, and the pipeline of docs/files.md.
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { testProgramFolder } from '../../../test/support/program.ts'

let harness: Harness
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-plan-process-'))
const program = join(folder, 'roomkeeper-cli')
beforeAll(async () => {
  harness = await startHarness()
  const bin = join(testProgramFolder, 'bin/roomkeeper.js')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`)
  chmodSync(program, 0o755)
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

/** Runs lines of a script, as a pipeline does: without a terminal, and until one fails. */
function shell(org: TestOrg, script: string, variables: Record<string, string> = {}) {
  const own = { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key, ...variables }
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, ...own }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile('sh', ['-ec', script], { cwd: folder, env, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

test('a slow reader of a pipe gets all of a plan, whose exit status is 2', async () => {
  const org = await harness.newOrg()
  const rooms = Array.from({ length: 2000 }, (_, i) => ({ name: `Room ${i} ${'x'.repeat(60)}` }))
  writeFileSync(join(folder, 'many.json'), JSON.stringify({ organisation: org.id, rooms }))
  const plan = '{ roomkeeper-cli plan many.json || echo $? > code; }'
  const { stdout } = await shell(org, `${plan} | { read first; tail -n 1; }; cat code`)
  expect(stdout).toBe('Plan: 2000 to create, 0 to change, 0 to delete.\n2\n')
  const json = await shell(org, `${plan.replace('json ', 'json --json ')} | { head -c 1; cat; }`)
  expect(JSON.parse(json.stdout).steps).toHaveLength(2000)
})

test('the pipeline of docs/files.md plans a change, and applies it after the merge', async () => {
  const org = await harness.newOrg()
  const [document = '', pipeline = ''] = guideBlocks('files.md', 'yaml')
  const jobs = parse(pipeline) as Record<'plan' | 'apply', { script: string[] }>
  const variables = { SETTINGS_PASSWORD: 'correct-horse' }
  const run = (job: 'plan' | 'apply') => shell(org, jobs[job].script.join('\n'), variables)
  const rooms = async () => (await org.call('GET', '/rooms')).body.rooms.map(({ name }: { name: string }) => name)

  writeFileSync(join(folder, 'rooms.yaml'), document.replace('LXJ45kN', org.id))
  const planned = await run('plan')
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining('Plan: 5 to create')])
  expect(await rooms()).toEqual([])
  const applied = await run('apply')
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/5 of 5 steps done\.\n$/)])
  expect(await rooms()).toEqual(['Fjord', 'Bay'])
  expect(await run('plan')).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to do.') })

  writeFileSync(join(folder, 'rooms.yaml'), document.replace('LXJ45kN', org.id).replace('name: Bay', 'nam: Bay'))
  expect(await run('plan')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^rooms\.yaml:12:13: name is missing/),
  })
  expect(await run('apply')).toMatchObject({ code: 1, stdout: '' })
})
