// Ends the connections of a whole fleet at the same moment, as a broken switch does, and measures how soon all devices are back.
import { join } from 'node:path'
import { expect } from 'vitest'
import { countCpuWaits } from '../cpu-time.ts'
import { freePort } from '../free-port.ts'
import { type Site, until, untilPrinted } from '../program.ts'
import { wireTo } from '../severable-proxy.ts'
import { report } from './counts.ts'

/** Enrolling thousands of devices takes about a minute. */
const enrolTimeoutMs = 300_000
const backTimeoutMs = 60_000

export interface NetworkDrop {
  /** From the end of the connections until the service has all devices connected again. */
  readonly reconnectedAfterMs: number
  /** How long this process, which has the devices and the server in `npm test`, waited for a processor meanwhile. */
  readonly cpuWaitMs: number
}

/** The devices are those of `roomkeeper simulate`, which connect through a wire that the test cuts. */
export async function networkDrop(
  site: Site,
  { devices, seed }: { devices: number; seed: number },
): Promise<NetworkDrop> {
  const mqttPort = String(await freePort())
  const wire = await wireTo(`mqtt://127.0.0.1:${mqttPort}`)
  const publicUrl = `mqtt://127.0.0.1:${wire.port}`
  const server = await site.serveHere('--rate-limit', '0', '--mqtt-port', mqttPort, '--public-mqtt-url', publicUrl)
  const fleetArguments = [
    '--endpoints',
    `${devices}`,
    '--rooms',
    `${Math.ceil(devices / 3)}`,
    '--interval',
    '300',
    '--seed',
    `${seed}`,
  ]
  const state = join(site.dataDir, 'fleet.json')
  const { url, org, key } = server
  const fleet = site.launchHere([
    'simulate',
    '--url',
    url,
    '--org',
    org,
    '--key',
    key,
    ...fleetArguments,
    '--state',
    state,
  ])
  const all = devices.toLocaleString('en')
  await untilPrinted(fleet, new RegExp(`^${all} of ${all} devices `, 'm'), 'stdout', enrolTimeoutMs)
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const connected = () => metric('roomkeeper_devices_connected')
  const cpuSeconds = () => metric('process_cpu_seconds_total')
  expect(await connected()).toBe(devices)

  const cpuBefore = await cpuSeconds()
  wire.cut()
  const droppedAt = performance.now()
  const cpuWaitMs = countCpuWaits()
  wire.mend()
  await until('the service notices', async () => (await connected()) < devices)
  const options = { everyMs: 100, timeoutMs: backTimeoutMs }
  await until(`all ${devices} devices are back`, async () => (await connected()) === devices, options)
  const waits = { reconnectedAfterMs: performance.now() - droppedAt, cpuWaitMs: cpuWaitMs() }
  report('network drop', seed, {
    devices,
    'all back after ms': Math.round(waits.reconnectedAfterMs),
    'CPU seconds of the server': ((await cpuSeconds()) - cpuBefore).toFixed(1),
  })
  await fleet.stop()
  await server.stop()
  return waits
}
