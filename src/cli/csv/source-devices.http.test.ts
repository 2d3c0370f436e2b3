// The import of the rooms of a source's devices, against a real service. [contract 15.devices]
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../../../test/support/devices/gateway.ts'
import { type Harness, startHarness, type TestOrg } from '../../../test/support/harness.ts'
import { testTerminal } from '../../../test/support/test-terminal.ts'
import { runCommand } from '../run-command.ts'

let harness: Harness
let folder: string
beforeAll(async () => {
  harness = await startHarness()
  folder = mkdtempSync(join(tmpdir(), 'source-devices-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await harness.close()
})

async function run(org: TestOrg, ...args: string[]) {
  const output = { out: '', err: '' }
  const variables: Record<string, string> = {
    ...{ ROOMKEEPER_URL: harness.url, ROOMKEEPER_ORG: org.id, ROOMKEEPER_KEY: org.key },
  }
  const terminal = testTerminal({
    write: (text) => {
      output.out += `${text}\n`
    },
    writeRaw: async (chunk) => {
      output.out += chunk
    },
    writeError: (text) => {
      output.err += `${text}\n`
    },
    variable: (name) => variables[name],
    untilStopped: () => new Promise(() => {}),
  })
  return { code: await runCommand(terminal, args), ...output }
}

const fileOf = (lines: readonly string[]): string => {
  const file = join(folder, 'devices.csv')
  writeFileSync(file, `${lines.join('\r\n')}\r\n`)
  return file
}

test('a file puts devices into rooms, excludes one, and a second import changes nothing; an exported list can be imported', async () => {
  const org = await harness.newOrg()
  await org.call('POST', '/regions', { body: { name: 'Europe' } })
  for (const name of ['Oslo', 'Bergen']) await org.call('POST', '/locations', { body: { name, regionId: 1 } })
  const newRoom = async (body: object) => (await org.call('POST', '/rooms', { body })).body.id
  const lobby = await newRoom({ name: 'Lobby', externalId: 'L-1' })
  const oslo = await newRoom({ name: 'Fjord', locationId: 1 })
  await newRoom({ name: 'Fjord', locationId: 2 })
  const gateway = await startGateway(harness, org, { roomId: lobby })
  const source = await org.call('POST', '/sources', {
    body: { type: 'mqtt', gatewayId: gateway.id, url: 'mqtt://broker.example', name: 'Sensors' },
  })
  const found = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, model: 'AM107', topic: `sensors/${key}` }))
  expect((await gateway.found(source.body.id, found)).status).toBe(200)
  const states = async () =>
    (await org.call('GET', `/sources/${source.body.id}/devices`)).body.devices.map(
      ({ key, state, roomId }: { key: string; state: string; roomId?: number }) => `${key} ${state} ${roomId ?? ''}`,
    )
  const before = await states()

  const wrong = fileOf(['key,room,room_id,state', 'a,Fjord,,', 'z,Lobby,,', 'b,Nowhere,,', 'b,Lobby,,', 'c,,,GONE'])
  const refused = await run(org, 'source-devices', 'import', wrong, '--yes')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('Row 2, column B (room): 2 rooms are called "Fjord". Add the location and the region')
  expect(refused.err).toContain('Row 3, column A (key): The source has no device "z".')
  expect(refused.err).toContain('Row 4, column B (room): No room is "Nowhere" there.')
  expect(refused.err).toContain('Row 5, column A (key): Row 4 has the same device.')
  expect(refused.err).toContain('Row 6, column D (state): "GONE" is not a state.')
  expect(refused.err).toMatch(/Wrong rows: 5\. Correct them in the file\. Nothing was changed\.\n$/)
  expect(await states()).toEqual(before)

  const right = fileOf([
    'Key,Region,Location,Room,Room ID,Room External ID,State,Endpoint name',
    'a,Europe,Oslo,Fjord,,,,Window',
    `b,,,,${lobby},,,`,
    'c,,,,,L-1,,',
    'd,,,,,,EXCLUDED,',
    'e,,,,,,,',
  ])
  const answer = join(folder, 'answer.csv')
  expect(await run(org, 'source-devices', 'import', right)).toMatchObject({
    code: 1,
    err: 'Add --yes to make these 4 changes. Nothing was changed.\n',
  })
  const done = await run(org, 'source-devices', 'import', right, '--yes', '--output', answer)
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(done.out).toMatch(/^Row 2: a: put into Fjord\n.*\n4 changed, 1 unchanged\.\n$/s)
  expect(readFileSync(answer, 'utf8')).toContain(',changed: put into Lobby\r\n')
  const after = [`a ADOPTED ${oslo}`, `b ADOPTED ${lobby}`, `c ADOPTED ${lobby}`, 'd EXCLUDED ', 'e FOUND ']
  expect(await states()).toEqual(after)
  expect(await run(org, 'source-devices', 'import', answer)).toMatchObject({ code: 0, out: '5 unchanged.\n' })

  // The exported list is a file for the import.
  const list = join(folder, 'list.csv')
  const args = ['api', 'source-devices', 'list', source.body.id, '--csv', '--output', list]
  expect(await run(org, ...args)).toMatchObject({ code: 0, err: '' })
  expect(await run(org, 'source-devices', 'import', list)).toMatchObject({ code: 0, out: '5 unchanged.\n', err: '' })
  expect(await states()).toEqual(after)
})

test('with several sources one has to be named', async () => {
  const org = await harness.newOrg()
  const file = fileOf(['key', 'a'])
  expect((await run(org, 'source-devices', 'import', file)).err).toContain('There is no source.')
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Lobby' } })
  const gateway = await startGateway(harness, org, { roomId: room.id })
  for (const name of ['One', 'Two']) {
    const body = { type: 'mqtt', gatewayId: gateway.id, url: 'mqtt://broker.example', name }
    await org.call('POST', '/sources', { body })
  }
  expect((await run(org, 'source-devices', 'import', file)).err).toContain(
    'Say which source is meant with --source: One',
  )
  expect((await run(org, 'source-devices', 'import', file, '--source', 'Three')).err).toContain(
    'No source is called Three',
  )
  expect((await run(org, 'source-devices', 'import', file, '--source', 'Two')).err).toContain(
    'The source has no device',
  )
})
