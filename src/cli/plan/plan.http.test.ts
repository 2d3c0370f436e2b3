// The commands export, plan and apply against a real service, with the examples of docs/files.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commandsIn, guideBlocks } from '../../../test/support/guide.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { runRemoteHere } from '../../../test/support/run-here.ts'

let harness: Harness
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-plan-'))
beforeAll(async () => {
  harness = await startHarness({ outboundAllow: ['127.0.0.1'] })
})
afterAll(async () => {
  await harness.close()
  rmSync(folder, { recursive: true })
})

const run = (org: TestOrg, args: readonly string[], variables: Record<string, string> = {}) =>
  runRemoteHere(args, {
    variables: { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key, ...variables },
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
    const [, ...args] = line.replace('; echo $?', '').split(' ')
    const { stdout, stderr, code } = await run(
      org,
      args.map((arg) => (arg === 'rooms.yaml' ? file : arg)),
      variables,
    )
    const text = `${stdout}${stderr}${showsCode ? `${code}\n` : ''}`.replaceAll(file, 'rooms.yaml')
    expect(text.trimEnd(), line).toBe(output)
  }
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
  expect(await run(org, ['apply', file, '--yes'], { ROOMKEEPER_KEY: key })).toMatchObject({
    code: 1,
    stderr: '1 (Fjord): The key lacks write.\nNot everything was done. The rest needs a key with more rights.\n',
  })
})

test('apply refuses before it changes anything: problems, variables that are not set, and a plan without a confirmation', async () => {
  const org = await harness.newOrg()
  const written = (await org.audit()).length
  const twice = fileWith('twice.yaml', `organisation: ${org.id}\nrooms:\n  - name: Fjord\n  - name: Fjord\n`)
  expect(await run(org, ['apply', twice, '--yes'])).toMatchObject({
    code: 1,
    stderr: `${twice}:3:5: Several entries have the path Fjord (line 3 and line 4). Add the id or an externalId to each.\nNothing was changed.\n`,
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
  const { stdout, code } = await run(org, ['apply', hook, '--yes'], url)
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /The secret of the webhook Hook is whsec_\S+\. It is not shown again\.\n1 of 1 steps done\.\n$/,
  )
})
