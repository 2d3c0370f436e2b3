// A start after a change of the public address says that the passkeys of the former host no longer work. [contract 11.local]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import type { ServeOptions } from '../../src/server/config/server-options.ts'
import { openDatabase } from '../../src/server/db/open.ts'
import { passkeyOrigin, passkeyRequests } from '../support/console/passkeys.ts'
import { type Call, type Harness, quiet, send, startHarness, type TestOrg } from '../support/harness.ts'
import { ownProgram } from '../support/run-here.ts'
import { testTerminal } from '../support/test-terminal.ts'

let harness: Harness
let org: TestOrg
beforeAll(async () => {
  harness = await startHarness({ publicUrl: passkeyOrigin }, { nodes: 1 })
  org = await harness.newOrg()
  await passkeyRequests(() => harness).person(org, 'owner')
  await harness.stop()
})
afterAll(() => harness.close())

/** Starts a server on the database, and returns its output and its address when `work` has ended. */
async function start(options: Partial<ServeOptions>, work = async (_url: string) => {}): Promise<string> {
  const stop = Promise.withResolvers<string>()
  const greeted = Promise.withResolvers<string>()
  const terminal = testTerminal({
    program: ownProgram,
    write: greeted.resolve,
    untilStopped: () => stop.promise,
  })
  const running = serve(terminal, { ...quiet, ...harness.place, ...options, logLevel: 'silent' } as ServeOptions)
  try {
    const text = await Promise.race([greeted.promise, running.then(() => '')])
    await work(/ready at (\S+)/.exec(text)?.[1] ?? '')
    return text
  } finally {
    stop.resolve('SIGTERM')
    await running
  }
}

const sentence =
  /^Passkeys that were added at rooms\.example\.org no longer work, because the address is now http:\/\/localhost:\d+: people sign in with a link from "login-link --user", and add a passkey again\.$/m

const addAtLocalhost = async (url: string) => {
  const call = (method: string, path: string, given?: Call) => send(url, method, path, given)
  const inOrg: TestOrg['call'] = (method, path, given = {}) =>
    call(method, `/v1/orgs/${org.id}${path}`, { key: org.key, ...given })
  const requests = passkeyRequests(
    () => ({ ...harness, call }),
    () => url,
  )
  await requests.person({ ...org, call: inOrg })
}

test('a start at another host says it with the command for a link, until a person has added a passkey there', async () => {
  expect(await start({ publicUrl: passkeyOrigin })).not.toContain('Passkeys')
  const moved = await start({})
  expect(moved).toMatch(sentence)
  expect(moved).toContain(' login-link --user EMAIL --org ORG ')
  expect(await start({}), 'a later start repeats it').toMatch(sentence)
  expect(await start({ publicUrl: passkeyOrigin }), 'they work again').not.toContain('Passkeys')
  expect(await start({ publicUrl: 'https://192.0.2.7' }), 'passkeys are off').toMatch(/no longer work/)
  await start({}, addAtLocalhost)
  expect(await start({})).not.toContain('Passkeys')
})

test('a data folder of an earlier version has the host of its last start in server.json', async () => {
  await start({ publicUrl: passkeyOrigin })
  const { db } = await openDatabase(harness.place, { isLocked: true, mustExist: true, onError() {} })
  await db.schema.deleteFrom('settings').where('name', '=', 'passkey host').execute()
  await db.close()
  expect(await start({})).toMatch(sentence)
})
