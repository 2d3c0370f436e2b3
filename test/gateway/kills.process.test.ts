// The gateway as a process that is killed around a reboot: no reboot happens twice, and none is lost.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newGatewayFolder } from '../support/gateway/gateway-world.ts'
import { LineDevice } from '../support/gateway/line-device.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { runCount } from '../support/long-form.ts'
import { compileCacheFolder, until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

const script = join(import.meta.dirname, '../support/gateway/line-gateway.ts')

function startProcess(folder: string, code: string): ChildProcess {
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCacheFolder }
  return spawn(process.execPath, [script, harness.url, folder, code], { stdio: ['ignore', 'ignore', 'inherit'], env })
}

test('a gateway that is killed around a reboot repeats none and loses none: the uptime of the device decides', async () => {
  const org = await harness.newOrg()
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const folder = newGatewayFolder()
  let gateway = startProcess(folder, room.dec)
  onTestFinished(() => void gateway.kill('SIGKILL'))
  const [{ id: gatewayId }] = await until('the gateway is online', async () => {
    const { gateways } = (await org.call('GET', '/gateways')).body
    return gateways[0]?.state === 'ONLINE' && gateways
  })
  const device = await LineDevice.start('KILLED-1')
  const at = `/gateways/${gatewayId}/devices`
  const target = { driver: 'roomos', host: '127.0.0.1', port: device.port, username: 'a', secret: device.password }
  const { body: item } = await org.call('POST', at, { body: { ...target, roomId: room.id } })
  const endpointId = await until(
    'it is enrolled',
    async () => (await org.call('GET', `${at}/${item.id}`)).body.endpointId,
  )
  const endpoint = `/endpoints/${endpointId}`
  const outcomes: string[] = []
  const moments = runCount({ short: 4, full: 20, long: 100 })
  const killAfterMs = Array.from({ length: moments }, (_, i) => ([0, 12, 40, 150][i % 4] as number) * (1 + i / 40))
  for (const waitMs of killAfterMs) {
    await until('it is online', async () => (await org.call('GET', endpoint)).body.connected)
    // An uptime is exact to two seconds: this restart must not be taken for the next one.
    await pause(Math.max(0, device.startedAtMs + 2_500 - Date.now()))
    await org.call('POST', `${endpoint}/reboot`)
    await pause(waitMs)
    gateway.kill('SIGKILL')
    await once(gateway, 'close')
    gateway = startProcess(folder, room.dec)
    const state = await until('the reboot has an end', async () => {
      const [newest] = (await org.call('GET', `${endpoint}/operations`)).body.operations
      return /SUCCEEDED|FAILED/.test(newest.state) && newest.state
    })
    outcomes.push(state)
    expect(device.reboots, `killed after ${waitMs} ms: ${outcomes}`).toBe(
      outcomes.filter((outcome) => outcome === 'SUCCEEDED').length,
    )
  }
  expect(outcomes).toHaveLength(moments)
  expect(outcomes).toContain('SUCCEEDED')
})
