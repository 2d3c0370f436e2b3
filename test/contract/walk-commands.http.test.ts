// Calls every operation once with its command: `api NOUN VERB`, in the process of the test.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandNameOf, kebab } from '../../src/cli/api/command-name.ts'
import { parametersOf } from '../../src/cli/api/operation-options.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import { calls, perform } from '../support/contract/calls.ts'
import { SharedFixture } from '../support/contract/shared-fixture.ts'
import { type Fixture, newFixture } from '../support/fixture.ts'
import type { Harness } from '../support/harness.ts'
import { runRemoteHere } from '../support/run-here.ts'
import { idsWhere, operationOf, startWalk } from './walk-calls.ts'

let harness: Harness
let fixture: SharedFixture
beforeAll(async () => {
  harness = await startWalk()
  fixture = new SharedFixture(harness)
})
afterAll(() => harness.close())

/** The words of the command that makes the call of an operation. */
function commandOf(id: OperationId, f: Fixture): string[] {
  const operation = operationOf(id)
  const { body, ...input } = calls[id](f) as Record<string, unknown>
  const { noun, verb } = commandNameOf({ id, ...operation })
  const names = parametersOf(operation)
  const optionOf = ([key, value]: [string, unknown]) => [
    `--${kebab(key)}`,
    typeof value === 'object' ? JSON.stringify(value) : optionText(key, value),
  ]
  const query = Object.entries(input).filter(([name]) => !names.includes(name))
  const keys = Array.isArray(body) ? [['item', body] as [string, unknown]] : Object.entries(body ?? {})
  return ['api', noun, verb, ...names.map((name) => String(input[name])), ...[...query, ...keys].flatMap(optionOf)]
}

/** The calls give times of a query in milliseconds. */
const optionText = (key: string, value: unknown) =>
  ['from', 'to'].includes(key) && typeof value === 'number' ? new Date(value).toISOString() : String(value)

const run = (id: OperationId, f: Fixture, ...options: string[]) => {
  const variables = { ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: f.id, ROOMKEEPER_KEY: f.key }
  return runRemoteHere([...commandOf(id, f), ...options], { variables })
}

describe.each(idsWhere(({ stream, person }) => !stream && !person))('%s', (id) => {
  const { method, download } = operationOf(id)
  const wantsJson = method === 'GET' && !download

  test(`succeeds as a command, and prints ${wantsJson ? 'the answer' : 'text'}`, async () => {
    const { f, ended } = await fixture.succeed(id, async (f) => {
      const ended = await run(id, f, ...(wantsJson ? ['--json'] : []))
      const status = ended.code === 0 ? 200 : 400
      return { ended, reply: { status, headers: new Headers(), text: ended.stderr, body: undefined } }
    })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).not.toBe('')
    if (wantsJson) expect(JSON.parse(ended.stdout)).toEqual((await perform(harness, f, id)).body)
  })
})

test('commands about the account of a person print why a key cannot use them [contract 11.local]', async () => {
  const f = await newFixture(harness)
  const ids = idsWhere(({ person }) => person === true)
  expect(ids).not.toEqual([])
  for (const id of ids) {
    const ended = await run(id, f)
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('with an API key. Sign in as') })
  }
})
