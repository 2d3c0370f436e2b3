// Devices that misbehave behind the same gateway as a good one: their states say it, the good one goes on, and each costs little.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { FakeCodec } from '../../src/simulator/hardware-fakes/codec/fake-codec.ts'
import { badPassword, startBadDevices } from '../support/gateway/bad-devices.ts'
import { folderContent, newGatewayFolder } from '../support/gateway/gateway-world.ts'
import type { OwnCosts } from '../support/gateway/measured-gateway.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isFullForm, runCount } from '../support/long-form.ts'
import { compileCacheFolder, startTimeoutMs, until } from '../support/program.ts'

const megabyteBytes = 1024 * 1024
/** The good device changes its volume this often, one after the other. */
const volumes = runCount({ short: 1, full: 20, long: 60 })

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Starts the gateway, and returns what it has measured since the last question. */
function startMeasuredGateway(folder: string, code: string): { costs: () => Promise<OwnCosts> } {
  const script = join(import.meta.dirname, '../support/gateway/measured-gateway.ts')
  const child = spawn(process.execPath, ['--expose-gc', script, harness.url, folder, code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCacheFolder },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let measured: OwnCosts[] = []
  createInterface({ input: child.stdout }).on('line', (line) => measured.push(JSON.parse(line)))
  const most = (of: (costs: OwnCosts) => number) => Math.max(...measured.map(of))
  return {
    costs: async () => {
      await until('a measurement', () => measured.length > 0)
      const result = { bytes: most(({ bytes }) => bytes), longestTurnMs: most(({ longestTurnMs }) => longestTurnMs) }
      measured = []
      return result
    },
  }
}

test('bad devices have a state that says it, cost less than 1 MB each, and delay no other by more than 1 s', async () => {
  const org = await harness.newOrg()
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const folder = newGatewayFolder()
  const gateway = startMeasuredGateway(folder, room.dec)
  const { id } = await until(
    'the gateway is online',
    async () => {
      const [found] = (await org.call('GET', '/gateways')).body.gateways
      return found?.state === 'ONLINE' && found
    },
    { timeoutMs: startTimeoutMs },
  )
  const at = `/gateways/${id}/devices`
  const add = async (item: object): Promise<string> =>
    (await org.call('POST', at, { body: { ...item, roomId: room.id } })).body.id
  const item = async (itemId: string) => (await org.call('GET', `${at}/${itemId}`)).body

  const good = await FakeCodec.start({ serial: 'GOOD-1' })
  onTestFinished(() => good.stop())
  const { port, fingerprint } = good
  const goodId = await add({
    driver: 'roomos',
    host: '127.0.0.1',
    port,
    username: 'admin',
    secret: 'codec-password',
    fingerprint,
  })
  const { endpointId } = await until('the good device is connected', async () => {
    const found = await item(goodId)
    return found.state === 'CONNECTED' && found
  })
  const volumeIs = (volume: number) =>
    until(
      `the volume is ${volume}`,
      async () => (await org.call('GET', `/endpoints/${endpointId}`)).body.volume === volume,
    )
  const changeVolumes = async () => {
    for (let i = 1; i <= volumes; i++) {
      good.set('Status', 'Audio Volume', i)
      await volumeIs(i)
    }
  }
  await changeVolumes()
  const before = await gateway.costs()

  // The short form has a third of them, from each driver.
  const bad = (await startBadDevices()).filter((_, i) => isFullForm || i % 3 === 0)
  const ids = await Promise.all(bad.map((device) => add(device.item)))
  await changeVolumes()
  for (const [i, { name, states }] of bad.entries()) {
    const found = await until(`${name} has a state`, async () => {
      const one = await item(ids[i] as string)
      return one.state !== 'NEW' && one
    })
    expect(states, `${name}: ${found.reason}`).toContain(found.state)
    if (found.state !== 'CONNECTED') expect(found.reason, name).toMatch(/.{10,}\.$/)
  }
  const after = await gateway.costs()
  expect(await item(goodId)).toMatchObject({ state: 'CONNECTED' })
  expect(good.signIns).toEqual({ right: 1, wrong: 0 })

  const bytesEach = (after.bytes - before.bytes) / bad.length
  if (isFullForm) process.stdout.write(`${JSON.stringify({ devices: bad.length, bytesEach, before, after })}\n`)
  expect(bytesEach).toBeLessThan(megabyteBytes)
  // No turn of the event loop takes so much CPU time. The clock does not count: on a busy machine everything takes several times as long.
  expect(after.longestTurnMs).toBeLessThan(1_000)
  expect(folderContent(folder) + JSON.stringify(harness.logged)).not.toContain(badPassword)
})
