// Lives through a day of a fleet of which a share flaps, in simulated time, and counts the messages of a channel beside one for each event.

import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { dayMs, minuteMs, secondMs } from '../src/contract/durations.ts'
import { defaultAirLimits } from '../src/contract/journal/orgs.ts'
import { retryWaitMs } from '../src/device/reconnect.ts'
import { tokenHash } from '../src/server/auth/token.ts'
import { channelsCreate } from '../src/server/channels/rules.ts'
import { airLimitsText } from '../src/server/config/air-limits.ts'
import type { ServeOptions } from '../src/server/config/server-options.ts'
import { StartupError } from '../src/server/core/failure.ts'
import { timeLimits } from '../src/server/core/time-limits.ts'
import type { DeviceConnection } from '../src/server/devices/mqtt/handlers.ts'
import { firstStart, firstStartActor } from '../src/server/first-start.ts'
import { markConnected, markDisconnected } from '../src/server/fleet/endpoints/presence.ts'
import { commandLineActor } from '../src/server/journal/orgs/rules.ts'
import { openCore } from '../src/server/phases/core.ts'
import { makeResources } from '../src/server/phases/resources.ts'
import { seededRandom } from '../src/simulator/seeded-random.ts'
import { deviceOfRow } from '../test/support/database/endpoint-rows.ts'
import { Cleanup } from './cleanup.ts'
import { deviceModel, fillOrganisation } from './fixture/organisation.ts'

/** Connects and disconnects happen in steps of this time. */
const stepMs = 5 * secondMs
/** In service the engine runs every second. A run every 30 s finds the same incidents, a little later. */
const runEveryMs = 30 * secondMs
const start = Date.UTC(2026, 4, 4)
const minReductionPercent = 90

interface FlappingDevice {
  readonly connection: DeviceConnection
  readonly seed: number
  isConnected: boolean
  nextAt: number
  drops: number
}

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '1500' },
    flap: { type: 'string', default: '1%' },
    hours: { type: 'string', default: '24' },
  },
})
const [count, flapPercent, hours] = [Number(values.devices), Number.parseFloat(values.flap), Number(values.hours)]

const cleanup = new Cleanup()
const stack = new AsyncDisposableStack()
let now = start
try {
  const loopback = '127.0.0.1'
  const ports = { host: loopback, port: 0, mqttHost: loopback, mqttPort: 0, healthHost: loopback } as const
  const options: ServeOptions = {
    ...ports,
    mqttTlsPort: 'off',
    healthPort: 'off',
    rateLimit: 0,
    authFailureLimit: 0,
    logLevel: 'warn',
    logRequests: 'writes',
    dataDir: cleanup.tempFolder(),
    settleMinutes: 0,
  }
  const log = pino({ level: 'warn' })
  const core = await openCore(stack, {
    options,
    log,
    clock: { now: () => now },
    limits: timeLimits,
    onLost: () => process.exit(1),
  })
  const { services } = core
  const resources = await makeResources(core)
  await firstStart(services, true)
  const { org, devices } = await fillOrganisation(services, count)
  const ctx = await commandLineActor(services, firstStartActor, org.id)
  const url = 'https://hooks.example.org/'
  // No delivery runs here, so messages are counted where they are queued. A running delivery sends fewer: it cancels those of an
  // incident that ends within a minute, and gathers many openings in a digest.
  const incidents = await channelsCreate(ctx, { name: 'Incidents', kind: 'webhook', url }, core.outbound)
  const events = await channelsCreate(
    ctx,
    { name: 'Events', kind: 'webhook', url, events: ['endpoint.connected', 'endpoint.disconnected'] },
    core.outbound,
  )

  const connections = devices.map(
    ({ id, credential }, i): DeviceConnection => ({
      device: deviceOfRow(org, { id, number: i + 1, serial: `BENCH${i + 1}`, model: deviceModel }),
      since: now,
      credentialHash: tokenHash(credential).toString('hex'),
      nodeId: 0,
      number: 0,
    }),
  )
  const connect = async (connection: DeviceConnection) => {
    const presence = await markConnected(services, { ...connection, since: now })
    if (!presence) throw new StartupError('A device of the fleet could not connect.')
    Object.assign(connection, presence)
  }
  await Promise.all(connections.map(connect))
  const flapping = connections
    .map((connection, seed): FlappingDevice => ({ connection, seed, isConnected: true, nextAt: 0, drops: 0 }))
    .slice(0, Math.round((count * flapPercent) / 100))
  for (const device of flapping) device.nextAt = nextDropAt(device)
  // The connects of the beginning are no events of the day.
  const before = await countMessages(Number(events.body.id))

  const signal = new AbortController().signal
  const orgOfRun = { ...org, name: 'Demo', timezone: 'UTC', air_limits: airLimitsText(defaultAirLimits) }
  for (const end = start + (hours * dayMs) / 24; now < end; now += stepMs) {
    const due = flapping.filter(({ nextAt }) => nextAt <= now)
    await Promise.all(due.map(flap))
    if ((now - start) % runEveryMs === 0) await resources.incidents.run(services, orgOfRun, signal)
  }

  const eventCount = (await countMessages(Number(events.body.id))) - before
  const messageCount = await countMessages(Number(incidents.body.id))
  const reduction = 100 * (1 - messageCount / eventCount)
  process.stdout.write(`${count} devices, ${flapping.length} of them flapping, ${hours} h
connects and disconnects  ${eventCount}
messages about incidents  ${messageCount}
fewer messages            ${reduction.toFixed(2)} %\n`)
  if (reduction < minReductionPercent) process.exitCode = 1

  async function flap(device: FlappingDevice): Promise<void> {
    const { connection } = device
    if (device.isConnected) {
      await markDisconnected(services, connection, 'LOST')
      device.nextAt = now + retryWaitMs(0, undefined, undefined, seededRandom(device.seed, device.drops, 1))
    } else {
      await connect(connection)
      device.nextAt = nextDropAt(device)
    }
    device.isConnected = !device.isConnected
  }

  async function countMessages(channel: number): Promise<number> {
    const { total } = await services.db.system.kysely
      .selectFrom('deliveries')
      .select((e) => e.fn.countAll<number>().as('total'))
      .where('channel_id', '=', channel)
      .executeTakeFirstOrThrow()
    return Number(total)
  }
} finally {
  await stack.disposeAsync()
  await cleanup.run()
}

/** The simulator with `--flap` drops connections like this. */
function nextDropAt(device: FlappingDevice): number {
  return now + 5 * secondMs + (minuteMs - 5 * secondMs) * seededRandom(device.seed, device.drops++, 32)
}
