// `roomkeeper mcp`: the tools over standard input and output, started by the official client and by the older SDK. [contract 17.mcp]
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tool-table.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm } from '../support/long-form.ts'
import { type ToolClient, wrapClient } from '../support/mcp/tool-client.ts'
import { newTwoRegions, type TwoRegions } from '../support/places/two-regions.ts'

const program = join(import.meta.dirname, '../../bin/roomkeeper.js')
let harness: Harness
let places: TwoRegions
/** Variables that name the server and the key, as a context does. */
let env: Record<string, string>
beforeAll(async () => {
  harness = await startHarness()
  places = await newTwoRegions(harness)
  const key = await places.org.newKey({ name: 'Assistant', scopes: ['read', 'write'], regionIds: [places.mine.region] })
  env = {
    PATH: process.env.PATH ?? '',
    ROOMKEEPER_URL: harness.url,
    ROOMKEEPER_ORG: places.org.id,
    ROOMKEEPER_KEY: key,
  }
})
afterAll(() => harness.close())

const command = () => ({ command: process.execPath, args: [program, 'mcp'], env, stderr: 'pipe' as const })
const clientInfo = { name: 'roomkeeper-test', version: '1' }

async function connectOfficial(): Promise<ToolClient> {
  const client = new Client(clientInfo)
  await client.connect(new StdioClientTransport(command()))
  return wrapClient(client)
}
async function connectOlder(): Promise<ToolClient> {
  const client = new OlderClient(clientInfo)
  await client.connect(new OlderTransport(command()))
  return wrapClient(client)
}

describe.each([
  ['the official client', connectOfficial],
  ['the older SDK', connectOlder],
] as const)('%s', (_, connect) => {
  test('lists the tools, reads what the key sees, and confirms a change', async () => {
    const client = await connect()
    try {
      expect((await client.tools()).map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
      expect(JSON.parse((await client.call('find_rooms')).text)).toMatchObject({ rooms: [{ name: 'MINE room' }] })
      const args = { roomId: places.mine.room, hours: 1, reason: 'Painting.' }
      const { confirmation } = JSON.parse((await client.call('silence_room', args)).text)
      expect((await client.call('silence_room', { ...args, hours: 2, confirmation })).text).toMatch(/not for this call/)
      expect(JSON.parse((await client.call('silence_room', { ...args, confirmation })).text)).toMatchObject({
        done: true,
      })
      const [entry] = await places.org.audit()
      expect(entry).toMatchObject({ type: 'SILENCE_CREATED', actor: { type: 'KEY', name: 'Assistant' } })
    } finally {
      await client.close()
    }
  })
})

test('without a server or with a wrong key it ends with a sentence', async () => {
  const run = (variables: Record<string, string>) =>
    promisify(execFile)(process.execPath, [program, 'mcp'], { env: { ...env, ...variables } }).catch(
      (error: { stdout: string; stderr: string; code: number }) => error,
    )
  const wrong = (await run({ ROOMKEEPER_KEY: 'rk_wrong' })) as { stdout: string; stderr: string; code: number }
  expect([wrong.code, wrong.stdout]).toEqual([1, ''])
  expect(wrong.stderr).toMatch(/key is not valid/)
})

test.runIf(isFullForm)(
  "the inspector's command line calls the tools over both ways",
  async () => {
    // The inspector weighs 147 MB, so it is not a dependency: npm installs it for this test.
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-inspector-'))
    try {
      const inspector = '@modelcontextprotocol/inspector'
      await promisify(execFile)('npm', [
        'install',
        '--no-audit',
        '--no-fund',
        '--prefix',
        folder,
        `${inspector}@2.12.0`,
      ])
      const inspect = async (...args: string[]) => {
        const bin = join(folder, 'node_modules/.bin/mcp-inspector')
        const { stdout } = await promisify(execFile)(bin, ['--cli', ...args], { env: { ...process.env, ...env } })
        return JSON.parse(stdout)
      }
      const http = [
        `${harness.url}/mcp`,
        '--transport',
        'http',
        '--header',
        `Authorization: Bearer ${env.ROOMKEEPER_KEY}`,
      ]
      const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`])
      const stdio = [...variables, process.execPath, program, 'mcp']
      for (const way of [http, stdio]) {
        const listed = await inspect(...way, '--method', 'tools/list')
        expect(listed.tools.map(({ name }: { name: string }) => name)).toEqual(tools.map(({ name }) => name))
        const called = await inspect(
          ...way,
          '--method',
          'tools/call',
          '--tool-name',
          'find_rooms',
          '--tool-arg',
          'search=MINE',
        )
        expect(JSON.parse(called.content[0].text)).toMatchObject({ total: 1 })
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  240_000,
)
