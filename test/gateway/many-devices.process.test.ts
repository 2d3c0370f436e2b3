// Many devices behind one gateway, which is a process of its own: how soon they are connected, and what they cost.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newGatewayFolder } from '../support/gateway/gateway-world.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { isLongForm, runCount } from '../support/long-form.ts'
import { compileCacheFolder, until } from '../support/program.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** Many line devices behind one port: the password says which one is meant. */
async function manyDevices(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    createInterface({ input: socket }).on('line', (line) => {
      const { login } = JSON.parse(line)
      if (login === undefined) return
      socket.write(`${JSON.stringify({ serial: login, model: 'Line 1', power: 'ON', uptimeMs: 3_600_000 })}\n`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** The memory of a process in MiB, and its CPU time in seconds. */
function costsOf(pid: number): { mebibytes: number; cpuSeconds: number } {
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return { mebibytes: Number(kibibytes) / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 }
}

test('all devices of a gateway are connected within two minutes, and cost less than 200 MiB', async () => {
  const org = await harness.newOrg()
  const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
  const script = join(import.meta.dirname, '../support/gateway/line-gateway.ts')
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCacheFolder }
  const args = [script, harness.url, newGatewayFolder(), room.dec]
  const gateway = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env })
  onTestFinished(() => void gateway.kill('SIGKILL'))
  const one = async () => (await org.call('GET', '/gateways')).body.gateways[0]
  const { id } = await until('the gateway is online', async () => {
    const found = await one()
    return found?.state === 'ONLINE' && found
  })
  const port = await manyDevices()
  const count = runCount({ short: 60, full: 200, long: 1000 })
  const startedAtMs = performance.now()
  for (let i = 0; i < count; i++) {
    const target = { driver: 'roomos', host: '127.0.0.1', port, username: 'a', secret: `MANY-${i}` }
    await org.call('POST', `/gateways/${id}/devices`, { body: { ...target, roomId: room.id } })
  }
  await until('all are connected', async () => (await one()).devices.CONNECTED === count, { timeoutMs: 200_000 })
  const isOnline = async () => {
    const { endpoints } = (await org.call('GET', '/endpoints')).body
    return endpoints.filter((endpoint: { connected: boolean }) => endpoint.connected).length === count + 1
  }
  await until('all are online', isOnline, { timeoutMs: 200_000, everyMs: 500 })
  const seconds = (performance.now() - startedAtMs) / 1000
  const before = costsOf(gateway.pid as number)
  await pause(runCount({ short: 1_000, long: 60_000 }))
  const after = costsOf(gateway.pid as number)
  if (isLongForm) process.stdout.write(`${JSON.stringify({ count, seconds, before, after })}\n`)
  expect(seconds).toBeLessThan(120)
  // The driver's own state comes on top; that of a thousand devices is not measured here.
  if (count <= 200) expect(after.mebibytes).toBeLessThan(200)
})
