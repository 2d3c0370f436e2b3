// `roomkeeper simulate`: a fleet of devices that speak the real protocol, until Ctrl-C.
import { type Command, InvalidArgumentError } from 'commander'
import { StartupError } from '../server/core/failure.ts'
import { FleetError } from '../simulator/failure.ts'
import type { FleetOptions } from '../simulator/fleet.ts'
import { mostInRoom } from '../simulator/plan.ts'
import type { Terminal } from './terminal.ts'

export interface SimulateOptions extends Omit<FleetOptions, 'state'> {
  readonly state?: string
}

export const simulateOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the service', address, 'http://127.0.0.1:8080')
    .requiredOption('--org <id>', 'the organisation that gets the fleet')
    .requiredOption('--key <key>', 'an API key of it that may read and write')
    .option('--endpoints <number>', 'how many devices', whole(1, 50_000), 500)
    .option('--rooms <number>', 'how many rooms', whole(1, 20_000), 200)
    .option('--locations <number>', 'how many locations', whole(1, 1_000), 12)
    .option('--regions <number>', 'how many regions', whole(1, 100), 3)
    .option('--seed <number>', 'another number is another fleet', whole(0, 2 ** 31 - 1), 1)
    .option('--flap <share>', 'devices that lose their connection now and then, such as 1%', share, 0)
    .option('--reject-config <share>', 'devices that refuse some config keys, such as 1%', share, 0)
    .option('--speed <factor>', 'how much faster a day passes; timestamps stay real', factor, 1)
    .option('--interval <seconds>', 'time between two samples of a device', whole(1, 86_400), 60)
    .option('--backfill <duration>', 'first send the past, such as 30d or 12h', duration, 0)
    .option('--state <file>', 'who the devices are, for the next run (default: data/simulator-ORG.json)')

export async function simulateCommand(terminal: Terminal, options: SimulateOptions): Promise<void> {
  const { org, endpoints, rooms } = options
  if (endpoints > rooms * mostInRoom)
    throw new StartupError(`--rooms is too small: a room holds ${mostInRoom} devices.`)
  const stop = new AbortController()
  void terminal.untilStopped().then(() => stop.abort())
  const state = options.state ?? `./data/simulator-${encodeURIComponent(org)}.json`
  await runFleet(terminal, { ...options, state }, stop.signal)
}

/** What a person can do something about is told in a sentence. */
export async function runFleet(
  terminal: Terminal,
  options: FleetOptions,
  signal: AbortSignal,
  built?: () => Promise<void>,
): Promise<void> {
  const watcher = {
    progress: (line: string) => terminal.complain(line),
    say: (line: string) => terminal.say(line),
    ...(built && { built }),
  }
  // Loading MQTT.js takes long: other commands do not wait for it.
  const { simulate } = await import('../simulator/simulate.ts')
  try {
    await simulate(options, watcher, signal)
  } catch (error) {
    throw error instanceof FleetError ? new StartupError(error.message) : error
  }
}

function whole(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

function address(text: string): string {
  if (/^https?:\/\/[^\s/?#]+\/*$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:8080.')
}

function share(text: string): number {
  const [, percent = Number.NaN] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  if (Number(percent) <= 100) return Number(percent) / 100
  throw new InvalidArgumentError('It must be a share from 0% to 100%.')
}

function factor(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value > 0 && value <= 10_000) return value
  throw new InvalidArgumentError('It must be a number above 0, and at most 10000.')
}

const units: Record<string, number> = { h: 3_600_000, d: 86_400_000 }

function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([hd])$/.exec(text) ?? []
  const length = Number(count) * (units[unit] ?? Number.NaN)
  if (length <= 30 * 86_400_000) return length
  throw new InvalidArgumentError(
    'It must be a duration such as 7d or 12h, at most 30d, which is how long a service keeps samples unless it is told otherwise.',
  )
}
