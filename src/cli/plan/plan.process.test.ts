// plan and apply as processes of their own: pipes, exit codes, kill -9, and the pipeline of docs/files.md.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createBodyServer } from '../../../test/support/body-server.ts'
import { report } from '../../../test/support/endurance/counts.ts'
import { SeededChoices } from '../../../test/support/endurance/random.ts'
import { guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { isFullForm, runCount } from '../../../test/support/long-form.ts'
import type { Draft } from '../../../test/support/plan/generated.ts'
import { Program, testProgramFolder, until } from '../../../test/support/program.ts'
import { runRemoteHere } from '../../../test/support/run-here.ts'
import { readOrganisation } from '../../apply/read-organisation.ts'
import type { OrganisationDocument } from '../../plan/document.ts'
import { documentOf } from '../../plan/document-of.ts'

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
  const own = { ...variablesOf(org), ...variables }
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

/** The document of an organisation with thirty rooms, and what it becomes: renames, moves, additions and deletions. */
function editedCopy(exported: OrganisationDocument): OrganisationDocument {
  const document = structuredClone(exported) as Draft
  const [first, second, third] = document.regions ?? []
  for (const { rooms = [] } of first?.locations ?? []) for (const room of rooms) room.name = `New ${room.name}`
  const moved = second?.locations?.[0]?.rooms?.splice(0, 3) ?? []
  second?.locations?.[1]?.rooms?.push(...moved, ...roomsNamed('Added', 10))
  third?.locations?.pop()
  document.regions?.push({ name: 'Asia', locations: [{ name: 'Tokyo', rooms: roomsNamed('Tokyo', 5) }] })
  document.profiles = [{ name: 'Quiet', config: { nightMode: true } }]
  document.silences = [
    { place: { region: 'Asia' }, reason: 'Nights', weekly: { days: ['mon'], from: '20:00', to: '05:00' } },
  ]
  document.users = [{ email: 'ada@example.org', role: 'viewer', regions: ['Asia'] }]
  return document
}

const roomsNamed = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `${name} ${i}`, capacity: 4 + i }))

const thirtyRooms = (organisation: string): OrganisationDocument => ({
  organisation,
  regions: ['Europe', 'Africa', 'America'].map((name) => ({
    name,
    locations: ['North', 'South'].map((site) => ({ name: site, rooms: roomsNamed('Room', 5) })),
  })),
})

/** An organisation with thirty rooms, and the command that makes it what its document has become. */
async function preparedApply() {
  const org = await harness.newOrg()
  const apply = (name: string, document: OrganisationDocument) => {
    writeFileSync(join(folder, name), JSON.stringify(document))
    return { args: ['apply', join(folder, name), '--yes', '--prune'], variables: variablesOf(org) }
  }
  const first = apply('first.json', thirtyRooms(org.id))
  expect(await runRemoteHere(first.args, first)).toMatchObject({ code: 0, stderr: '' })
  const exported = documentOf(await readOrganisation(org.client, undefined))
  return { org, ...apply('second.json', editedCopy(exported)) }
}

const endOf = async ({ client }: TestOrg) =>
  JSON.parse(
    JSON.stringify({ ...documentOf(await readOrganisation(client, undefined)), organisation: '' }),
    (key, value) => (key === 'id' ? undefined : value),
  )

/** Returns the end of an `apply` without an interruption, and the number of its entries in the audit log. */
async function uninterrupted() {
  const { org, ...command } = await preparedApply()
  expect(await runRemoteHere(command.args, command)).toMatchObject({ code: 0, stderr: '' })
  return { end: await endOf(org), entries: (await org.audit()).length }
}

test('apply that is killed at any moment and repeated has the same end, and makes nothing twice', {
  timeout: 3_600_000,
}, async () => {
  const reference = await uninterrupted()
  const choices = new SeededChoices(32)
  const kills = runCount({ short: 2, full: 40, long: 200 })
  let killed = 0
  for (let kill = 0; kill < kills; kill++) {
    const { org, args, variables } = await preparedApply()
    const entries = (await org.audit()).length
    const killAt = entries + choices.below(reference.entries - entries)
    const running = new Program(args, { cwd: folder, env: variables })
    await until('the apply has begun', async () => !running.isRunning || (await entryCount(org)) >= killAt, {
      everyMs: 1,
    })
    const { signal } = await running.stop('SIGKILL')
    if (signal === 'SIGKILL') killed++
    expect(await runRemoteHere(args, { variables })).toMatchObject({ code: 0, stderr: '' })
    expect(await endOf(org)).toEqual(reference.end)
    expect((await org.audit()).length).toBe(reference.entries)
  }
  report('kill -9 of apply', 32, { kills, killed })
  expect(killed).toBeGreaterThan(kills / 2)
})

/** Stands before the service. The first four writes pass; each later one is answered as the test says. */
async function gate(answer: (pass: () => void, response: ServerResponse) => void) {
  let writes = 0
  const server = createBodyServer(async (request, body, response) => {
    const pass = async () => {
      const headers = new Headers(request.headers as Record<string, string>)
      for (const name of ['host', 'connection', 'content-length', 'accept-encoding']) headers.delete(name)
      const { method = 'GET' } = request
      const reply = await fetch(`${harness.url}${request.url}`, { method, headers, ...(body !== '' && { body }) })
      const text = await reply.text()
      const etag = reply.headers.get('etag')
      response.writeHead(reply.status, { 'content-type': 'application/json', ...(etag !== null && { etag }) }).end(text)
    }
    if (request.method === 'GET' || ++writes <= 4) await pass()
    else answer(() => void pass(), response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// The full form also has an interruption while requests are under way: an import, which shares the code, is stopped so in csv.http.test.ts.
test.each(isFullForm ? ['waits', 'sends'] : ['waits'])(
  'Ctrl+C while apply %s ends it with what was done, and the repeat has the same end [contract 14.apply]',
  async (what) => {
    const reference = await uninterrupted()
    const { org, args, variables } = await preparedApply()
    const before = (await org.audit()).length
    const held: (() => void)[] = []
    let isHeld = what === 'sends'
    const url = await gate((pass, response) => {
      if (what === 'waits') response.writeHead(429, { 'retry-after': '120' }).end()
      else if (isHeld) held.push(pass)
      else pass()
    })
    const running = new Program(args, { cwd: folder, env: { ...variables, ROOMKEEPER_URL: url } })
    if (what === 'waits') await running.printed(/^The server asks to wait 120 s \(too many requests\)\.$/m, 'stderr')
    else await until('requests are under way', () => held.length > 0)
    running.signal('SIGINT')
    isHeld = false
    for (const pass of held) pass()
    const { code, stdout, stderr } = await running.exit()
    const done = (await org.audit()).length - before
    const all = reference.entries - before
    expect(code).toBe(1)
    expect(stdout).toMatch(new RegExp(`^${done} of ${all} steps done\\.\n$`, 'm'))
    expect(done).toBeLessThan(all)
    if (what === 'waits') expect(done).toBe(4)
    expect(stderr).toMatch(
      / more: Interrupted\.\nNot everything was done\. Run the command again: it skips what is done\.\n$/,
    )
    expect(await runRemoteHere(args, { variables })).toMatchObject({ code: 0, stderr: '' })
    expect(await endOf(org)).toEqual(reference.end)
    expect((await org.audit()).length).toBe(reference.entries)
  },
)

const variablesOf = ({ id, key }: TestOrg) => ({
  ROOMKEEPER_URL: harness.url,
  ROOMKEEPER_ORG: id,
  ROOMKEEPER_KEY: key,
})

async function entryCount({ org }: TestOrg): Promise<number> {
  const { schema } = harness.services.db
  const { count } = await schema
    .selectFrom('audit_log')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('org', '=', org.key)
    .executeTakeFirstOrThrow()
  return Number(count)
}
