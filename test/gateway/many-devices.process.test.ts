// Many devices behind one gateway, with TLS on both sides and a poll every 20 s: how soon they are connected, and what they cost.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { certificate } from '../support/certificate.ts'
import { countCpuWaits } from '../support/cpu-time.ts'
import { freePort } from '../support/free-port.ts'
import { newGatewayFolder } from '../support/gateway/gateway-world.ts'
import { startMixedDevices } from '../support/gateway/mixed-devices.ts'
import { startHarness } from '../support/harness.ts'
import { isFullForm, isLongForm, runCount } from '../support/long-form.ts'
import { costsOf } from '../support/process-costs.ts'
import { Program, startTimeoutMs, until } from '../support/program.ts'

/** A server that has a certificate, and that requests of this test trust. */
async function startSecureHarness(folder: string) {
  const { cert, key } = certificate({ dataDir: folder })
  const before = getGlobalDispatcher()
  const trusting = new Agent({ connect: { ca: readFileSync(cert) } })
  setGlobalDispatcher(trusting)
  const harness = await startHarness({
    tlsCert: cert,
    tlsKey: key,
    mqttTlsPort: await freePort(),
    mqttPort: 'off',
  })
  onTestFinished(async () => {
    setGlobalDispatcher(before)
    await trusting.close()
    await harness.close()
  })
  return { harness, cert }
}

const limitMs = runCount({ short: 240_000, full: 600_000, long: 1_200_000 })
/** Memory and CPU are promised for 200 devices; 1,000 are promised to connect in time. */
const promisedCount = 200
const counts = isLongForm ? [1_000] : isFullForm ? [promisedCount, 1_000] : [20]

test.each(counts)(
  'all devices of a gateway are connected within two minutes, cost less than 200 MB and 5 % of a core: %i devices',
  async (count) => {
    const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-many-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { harness, cert } = await startSecureHarness(folder)
    const org = await harness.newOrg()
    const { body: room } = await org.call('POST', '/rooms', { body: { name: 'Fjord' } })
    const url = new URL(harness.url)
    const args = ['gateway', '--url', url.origin, '--code', room.dec, '--data-dir', newGatewayFolder()]
    const start = () => {
      const started = new Program([...args, '--reach', '127.0.0.1'], { env: { NODE_EXTRA_CA_CERTS: cert } })
      onTestFinished(async () => void (await started.stop('SIGKILL')))
      return started
    }
    const enrolling = start()
    const one = async () => (await org.call('GET', '/gateways')).body.gateways[0]
    const { id } = await until(
      'the gateway is online',
      async () => {
        const found = await one()
        return found?.state === 'ONLINE' && found
      },
      { timeoutMs: startTimeoutMs },
    )
    const { items, stop } = await startMixedDevices(count, Number(url.port))
    onTestFinished(stop)
    await enrolling.stop()
    for (const item of items) await org.call('POST', `/gateways/${id}/devices`, { body: { ...item, roomId: room.id } })
    const startedAtMs = performance.now()
    const gateway = start()
    const waitedMs = countCpuWaits(gateway.pid)
    const isOnline = async () => {
      const { endpoints } = (await org.call('GET', '/endpoints')).body
      const onlineCount = endpoints.filter((endpoint: { connected: boolean }) => endpoint.connected).length
      // The gateway reports the states of its items a moment after their devices have connected.
      return onlineCount === count + 1 && (await one()).devices.CONNECTED === count
    }
    await until('all are online', isOnline, { timeoutMs: limitMs, everyMs: 500 }).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify((await one()).devices)}\n${gateway.stdout.slice(-3000)}`)
    })
    const seconds = (performance.now() - startedAtMs) / 1000
    const waitedSeconds = waitedMs() / 1000
    expect(gateway.stdout).not.toContain('mixed-password')

    const before = costsOf([gateway.pid])
    const quietSeconds = isFullForm ? 60 : 1
    await pause(quietSeconds * 1_000)
    const after = costsOf([gateway.pid])
    const share = (after.cpuSeconds - before.cpuSeconds) / quietSeconds
    if (isFullForm) process.stdout.write(`${JSON.stringify({ count, seconds, waitedSeconds, share, before, after })}\n`)
    // Other programs on the machine must not decide.
    expect(seconds).toBeLessThan(120 + waitedSeconds)
    if (count > promisedCount) return
    expect(after.bytes).toBeLessThan(200e6)
    if (isFullForm) expect(share).toBeLessThan(0.05)
  },
  limitMs,
)
