// The commands export, plan and apply against a real service, with the examples of docs/files.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { enrolTestDevice } from '../../../test/support/devices/test-device.ts'
import { closedUrl, newFixture } from '../../../test/support/fixture.ts'
import { commandsIn, guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { runRemoteHere } from '../../../test/support/run-here.ts'
import { OrganisationDocument } from '../../plan/document.ts'
import type { Terminal } from '../terminal/terminal.ts'

let harness: Harness
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-plan-'))
beforeAll(async () => {
  harness = await startHarness({ outboundAllow: ['127.0.0.1'] })
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

const run = (
  org: TestOrg,
  args: readonly string[],
  variables: Record<string, string> = {},
  terminal: Partial<Terminal> = {},
) =>
  runRemoteHere(args, {
    variables: { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key, ...variables },
    terminal,
  })
const fileWith = (name: string, text: string) => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

test('the example of docs/files.md does what the document says', async () => {
  const org = await harness.newOrg()
  const file = fileWith('rooms.yaml', (guideBlocks('files.md', 'yaml')[0] as string).replace('LXJ45kN', org.id))
  const variables: Record<string, string> = {}
  const [transcript = ''] = guideBlocks('files.md', 'console')
  for (const { line, output } of commandsIn(transcript)) {
    const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) {
      variables[name] = value
      continue
    }
    const showsCode = line.endsWith('; echo $?')
    const hidesPlan = line.endsWith(' 2> plan.txt')
    const [, ...args] = line.replace(/; echo \$\?$| 2> plan\.txt$/, '').split(' ')
    const { stdout, stderr, code } = await run(
      org,
      args.map((arg) => (arg === 'rooms.yaml' ? file : arg)),
      variables,
    )
    const text = `${stdout}${hidesPlan ? '' : stderr}${showsCode ? `${code}\n` : ''}`.replaceAll(file, 'rooms.yaml')
    expect(text.trimEnd(), line).toBe(output)
  }
})

test('the other sections of docs/files.md can be applied, and are all sections that the first example does not have', async () => {
  const org = await newFixture(harness)
  const [text = '', first = ''] = [2, 0].map((n) => guideBlocks('files.md', 'yaml')[n])
  const sections = [first, text].flatMap((block) => Object.keys(parse(block)))
  expect([...new Set(sections), 'locations', 'rooms', '$schema'].sort()).toEqual(
    Object.keys(OrganisationDocument.properties).sort(),
  )
  const serialOf = async (id: string) => (await org.call('GET', `/endpoints/${id}`)).body.serial
  const document = text
    .replace('LXJ45kN', org.id)
    .replace('GATEWAY-1', await serialOf(org.gateway))
    .replace('CAMERA-1', await serialOf(org.endpoint))
  const file = fileWith('sections.yaml', document)
  const secrets = { OPERATIONS_URL: closedUrl, PROJECTOR_PASSWORD: 'JBMIAProjectorLink' }
  const applied = await run(org, ['apply', file, '--yes', '--json'], secrets)
  expect([applied.code, applied.stderr]).toEqual([0, expect.stringMatching(/^Plan: .* to delete\.\n$/m)])
  expect(JSON.parse(applied.stdout)).toMatchObject({ done: 6, notDone: [] })
  expect(await run(org, ['plan', file])).toMatchObject({ code: 0 })
})

test('an export is stable, has its schema, and can be planned as YAML and JSON', async () => {
  const org = await harness.newOrg()
  const [yaml, json] = [join(folder, 'own.yaml'), join(folder, 'own.json')]
  await org.call('POST', '/regions', { body: { name: 'Europe: "west" #1' } })
  expect((await run(org, ['export', '--output', yaml])).code).toBe(0)
  expect((await run(org, ['export', '--output', json])).code).toBe(0)
  expect((await run(org, ['export'])).stdout.trimEnd()).toBe(readFileSync(yaml, 'utf8').trimEnd())
  expect(parse(readFileSync(yaml, 'utf8'))).toEqual(JSON.parse(readFileSync(json, 'utf8')))
  const { $schema } = JSON.parse(readFileSync(json, 'utf8'))
  expect(readFileSync(yaml, 'utf8').split('\n', 1)).toEqual([`# yaml-language-server: $schema=${$schema}`])
  const schema = JSON.parse((await run(org, ['document-schema'])).stdout)
  expect(await (await fetch($schema)).json()).toEqual(schema)
  // An editor reads the schema with a validator of its own, which does not know our formats.
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema)
  expect(isValid(JSON.parse(readFileSync(json, 'utf8')))).toBe(true)
  expect(isValid({ organisation: org.id, rooms: [{ nam: 'Fjord' }] })).toBe(false)
  for (const file of [yaml, json]) {
    expect(await run(org, ['plan', file, '--prune'])).toMatchObject({ code: 0, stdout: 'Nothing to do.\n', stderr: '' })
  }
})

test('the export of a key that is limited to regions says so on standard error, and has no section for what it does not see', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  await org.call('POST', '/rooms', { body: { name: 'Storage' } })
  const key = await org.newKey({ scopes: ['read', 'write'], regionIds: [1] })
  const { stdout, stderr, code } = await run(org, ['export'], { ROOMKEEPER_KEY: key })
  expect([code, stderr]).toEqual([0, expect.stringContaining('The key is limited to regions')])
  const file = fileWith('restricted.yaml', stdout)
  expect(stdout).not.toMatch(/^(rooms|locations):/m)
  // With a key that sees everything, the room outside of regions is left alone.
  const plan = await run(org, ['plan', file, '--prune'])
  expect([plan.code, plan.stdout]).toEqual([0, 'Nothing to do.\n'])
  expect((await run(org, ['export'])).stderr).toBe('')
})

test('a key that may not write is told before anything is tried, and a file of another organisation is named', async () => {
  const org = await harness.newOrg()
  const key = await org.newKey({ scopes: ['read'] })
  const file = fileWith('reader.yaml', `organisation: other\nrooms:\n  - name: Fjord\n`)
  const planned = await run(org, ['plan', file], { ROOMKEEPER_KEY: key })
  expect(planned).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('    cannot be done: The key lacks write.\n'),
  })
  expect(planned.stdout).toContain(
    `${file}:1:15: The document is of the organisation other, and this is ${org.id}, so its ids are ignored.\n`,
  )
  const notDone = '1 (Fjord): The key lacks write.\nNot everything was done. The rest needs a key with more rights.\n'
  expect(await run(org, ['apply', file, '--yes'], { ROOMKEEPER_KEY: key })).toMatchObject({ code: 1, stderr: notDone })
  // A pipeline gets the plan, with what is forbidden in it, before the first step.
  const inPipeline = await run(org, ['apply', file, '--yes', '--json'], { ROOMKEEPER_KEY: key })
  expect(inPipeline.stderr).toBe(planned.stdout + notDone)
  expect(JSON.parse(inPipeline.stdout)).toMatchObject({ done: 0, notDone: [{ reason: 'The key lacks write.' }] })
  const names = ['Fjord', 'Bay', 'Dal', 'Elv']
  const four = fileWith('four.yaml', `organisation: ${org.id}\nrooms: [${names.map((name) => `{ name: ${name} }`)}]\n`)
  expect((await run(org, ['apply', four, '--yes'], { ROOMKEEPER_KEY: key })).stderr).toContain(
    '1 (Fjord) and 3 more: The key lacks write.\nNot everything was done.',
  )
})

test('apply refuses before it changes anything: problems, variables that are not set, and a plan without a confirmation', async () => {
  const org = await harness.newOrg()
  const written = (await org.audit()).length
  const twice = fileWith('twice.yaml', `organisation: ${org.id}\nrooms:\n  - name: Fjord\n  - name: Fjord\n`)
  expect(await run(org, ['apply', twice, '--yes'])).toMatchObject({
    code: 1,
    stderr: `${twice}:3:11: Several entries have the path Fjord (line 3 and line 4). Add the id or an externalId to each.\nNothing was changed.\n`,
  })
  const hook = fileWith(
    'hook.yaml',
    `organisation: ${org.id}\nchannels: [{ name: Hook, kind: webhook, url: { env: HOOK_URL } }]\n`,
  )
  expect((await run(org, ['apply', hook, '--yes'])).stderr).toBe(
    'Set the secrets HOOK_URL as variables of the environment. Nothing was changed.\n',
  )
  const url = { HOOK_URL: 'https://127.0.0.1:9/secret' }
  expect((await run(org, ['apply', hook], url)).stderr).toBe('Add --yes to make this change. Nothing was changed.\n')
  expect(await org.audit()).toHaveLength(written)
})

test('the secret of a new webhook is shown once; a run that finds the webhook of an interrupted one says how to get another', async () => {
  const org = await harness.newOrg()
  const file = fileWith(
    'hook.yaml',
    `organisation: ${org.id}\nchannels: [{ name: Hook, kind: webhook, url: { env: HOOK_URL } }]\n`,
  )
  const url = { HOOK_URL: closedUrl }
  let first = ''
  // The service carries out the request of the first run after the second one has made its plan.
  const ask = async () => {
    first = (await run(org, ['apply', file, '--yes'], url)).stdout
    return 'y'
  }
  const second = await run(org, ['apply', file], url, { canAsk: true, ask })
  expect(first).toMatch(/The secret of the webhook Hook is whsec_\S+\. It is not shown again\.\n1 of 1 steps done\.\n$/)
  expect(second.code).toBe(0)
  expect(second.stdout).toMatch(
    /An interrupted run made the webhook Hook, and its secret was not shown\. Rotate the secret to see a new one\.\n1 of 1 steps done\.\n$/,
  )
  expect((await org.call('GET', '/channels')).body.channels).toHaveLength(1)
})

test('devices get other settings with --allow-rollout only, leave with --allow-unenrol only, and secrets are sent again with --set-secrets', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  await enrolTestDevice(harness, org, { roomId: 1 })
  const secret = `profiles: [{ name: Quiet, config: { settingsPassword: { env: PASSWORD } } }]`
  const file = fileWith(
    'rollout.yaml',
    `organisation: ${org.id}\nrooms: [{ name: Fjord, profile: Quiet }]\n${secret}\n`,
  )
  const apply = (args: readonly string[], PASSWORD: string) => run(org, ['apply', ...args, '--yes'], { PASSWORD })
  const written = (await org.audit()).length
  const refused = await apply([file], 'correct-horse')
  expect(refused.stdout).toContain('    changes 1 endpoint at the same time: needs --allow-rollout\n')
  expect(refused).toMatchObject({
    code: 1,
    stderr: 'Steps that change the settings of devices: 1. Add --allow-rollout. Nothing was changed.\n',
  })
  expect(await org.audit()).toHaveLength(written)
  expect((await apply([file, '--allow-rollout'], 'correct-horse')).code).toBe(0)
  const versions = async () => (await org.call('GET', '/profiles/1/versions')).body.versions.length
  expect(await versions()).toBe(1)
  expect((await apply([file], 'battery-staple')).stdout).toBe(
    `${file}: 1 secret is not compared; --set-secrets sends it.\nNothing to do.\n`,
  )
  expect((await apply([file, '--set-secrets'], 'battery-staple')).stderr).toContain('Add --allow-rollout.')
  expect(await versions()).toBe(1)
  expect((await apply([file, '--set-secrets', '--allow-rollout'], 'battery-staple')).code).toBe(0)
  expect(await versions()).toBe(2)

  const empty = fileWith('empty.yaml', `organisation: ${org.id}\nrooms: []\n`)
  expect((await apply([empty], '')).stdout).toBe('Nothing to do.\n')
  expect(await apply([empty, '--prune'], '')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('    unenrols 1 endpoint: needs --allow-unenrol\n'),
    stderr: 'Steps that unenrol devices: 1. Add --allow-unenrol. Nothing was changed.\n',
  })
  expect((await apply([empty, '--prune', '--allow-unenrol'], '')).code).toBe(0)
  expect((await org.call('GET', '/endpoints')).body.endpoints).toEqual([])
})
