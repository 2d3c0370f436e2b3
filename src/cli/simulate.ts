// `roomkeeper simulate`: runs a fleet of devices that speak the real protocol, until Ctrl-C.
import { StartupError } from '../server/core/failure.ts'
import type { FleetOptions } from '../simulator/fleet.ts'
import { FleetError } from '../simulator/fleet-error.ts'
import { maxDevicesPerRoom } from '../simulator/plan.ts'
import type { Terminal } from './terminal/terminal.ts'

/** These are named after the options of the command line; an interval is in seconds, a backfill in milliseconds. */
export interface SimulateOptions
  extends Omit<FleetOptions, 'intervalSeconds' | 'flapShare' | 'backfillMs' | 'stateFile'> {
  readonly interval: number
  readonly flap: number
  readonly backfill: number
  readonly state?: string
}

export async function simulateCommand(terminal: Terminal, options: SimulateOptions): Promise<void> {
  const { org, endpoints, rooms } = options
  if (endpoints > rooms * maxDevicesPerRoom)
    throw new StartupError(`--rooms is too small: a room can have at most ${maxDevicesPerRoom} devices.`)
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  const { interval: intervalSeconds, flap: flapShare, backfill: backfillMs, state, ...others } = options
  const stateFile = state ?? `./data/simulator-${encodeURIComponent(org)}.json`
  const fleet = { ...others, intervalSeconds, flapShare, backfillMs, stateFile }
  await runFleet(terminal, fleet, stop.signal)
}

/** Runs a fleet; an expected error becomes a message without a stack trace. */
export async function runFleet(
  terminal: Terminal,
  options: FleetOptions,
  signal: AbortSignal,
  onConnected?: () => Promise<void>,
): Promise<void> {
  const observer = {
    onProgress: (line: string) => terminal.writeError(line),
    onResult: (line: string) => terminal.write(line),
    ...(onConnected && { onConnected }),
  }
  // Loaded on demand, because MQTT.js takes long to load.
  const { simulate } = await import('../simulator/simulate.ts')
  try {
    await simulate(options, observer, signal)
  } catch (error) {
    throw error instanceof FleetError ? new StartupError(error.message) : error
  }
}
