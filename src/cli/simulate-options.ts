// The options of `roomkeeper simulate`, with what their values may be.
import { type Command, InvalidArgumentError } from 'commander'
import { dayMs, hourMs } from '../contract/durations.ts'

export const simulateOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the service', address, 'http://127.0.0.1:8080')
    .requiredOption('--org <id>', 'organisation of the fleet')
    .requiredOption('--key <key>', 'API key with the scopes read and write')
    .option('--endpoints <number>', 'number of devices', whole(1, 50_000), 500)
    .option('--rooms <number>', 'number of rooms', whole(1, 20_000), 200)
    .option('--locations <number>', 'number of locations', whole(1, 1_000), 12)
    .option('--regions <number>', 'number of regions', whole(1, 100), 3)
    .option('--seed <number>', 'a different number gives a different fleet', whole(0, 2 ** 31 - 1), 1)
    .option('--other-makers', 'devices of other makers in every fourth room')
    .option('--flap <share>', 'share of devices that lose their connection now and then, such as 1%', share, 0)
    .option('--reject-config <share>', 'share of devices that reject some config keys, such as 1%', share, 0)
    .option('--speed <factor>', 'how much faster simulated days pass; timestamps stay real', factor, 1)
    .option('--interval <seconds>', 'seconds between two samples of a device', whole(1, 86_400), 60)
    .option('--backfill <duration>', 'generate history first, such as 30d or 12h', duration, 0)
    .option('--state <file>', 'file that keeps the devices for the next run (default: data/simulator-ORG.json)')

export function whole(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`The value must be a whole number from ${min} to ${max}.`)
  }
}

function address(text: string): string {
  if (/^https?:\/\/[^\s/?#]+\/*$/.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new InvalidArgumentError('The value must be an address such as http://127.0.0.1:8080.')
}

function share(text: string): number {
  const [, percent = Number.NaN] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  if (Number(percent) <= 100) return Number(percent) / 100
  throw new InvalidArgumentError('The value must be a share from 0% to 100%.')
}

function factor(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value > 0 && value <= 10_000) return value
  throw new InvalidArgumentError('The value must be a number above 0 and at most 10000.')
}

const unitMs: Record<string, number> = { h: hourMs, d: dayMs }

function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([hd])$/.exec(text) ?? []
  const durationMs = Number(count) * (unitMs[unit] ?? Number.NaN)
  if (durationMs <= 30 * dayMs) return durationMs
  throw new InvalidArgumentError(
    'The value must be a duration such as 7d or 12h, at most 30d, which is the default retention of samples.',
  )
}
