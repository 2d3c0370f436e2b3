// The options of `roomkeeper gateway`.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseHost, parseRange } from '../gateway/reach.ts'
import { isLoopbackHost } from '../server/core/loopback.ts'

/** EX_CONFIG of sysexits.h: a supervisor that knows it does not start the gateway again. */
export const needsPersonExitStatus = 78

/** The variables keep the code out of the list of processes, and are what container files and units use. */
export const gatewayOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--url <url>', 'address of the server, such as https://rooms.example.org')
        .env('ROOMKEEPER_GATEWAY_URL')
        .argParser(serverAddress)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--code <code>', 'enrolment code of the room that the gateway is in; needed once').env(
        'ROOMKEEPER_GATEWAY_CODE',
      ),
    )
    .addOption(
      new Option('--data-dir <folder>', 'folder for the credentials of the gateway and its devices')
        .env('ROOMKEEPER_GATEWAY_DATA_DIR')
        .default('./gateway'),
    )
    .addOption(
      new Option(
        '--reach <cidr>',
        'network that the gateway may reach (repeatable), or none (default: the private networks of this machine)',
      )
        .env('ROOMKEEPER_GATEWAY_REACH')
        .argParser(collectRanges),
    )
    .addOption(
      new Option(
        '--reach-host <host>',
        'name of a host outside of these networks that sources may reach, such as a broker in a cloud (repeatable)',
      )
        .env('ROOMKEEPER_GATEWAY_REACH_HOST')
        .argParser(collectHosts),
    )
    .addOption(
      new Option('--serial <serial>', 'serial number of the gateway that this one replaces').env(
        'ROOMKEEPER_GATEWAY_SERIAL',
      ),
    )

/** Passwords of devices come from this address, so it needs TLS unless it is this machine. */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username)
    throw new InvalidArgumentError('The value must be an address such as https://rooms.example.org.')
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new InvalidArgumentError('The passwords of devices travel over HTTPS only: use https://.')
  return url.href.replace(/\/+$/, '')
}

/** Separated by commas in the variable. */
const collect =
  (parse: (item: string) => string) =>
  (text: string, before: readonly string[] = []): string[] => {
    try {
      return [...before, ...text.split(',').map(parse)]
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }

export const collectHosts = collect(parseHost)
export const collectRanges = (text: string, before: readonly string[] = []): string[] =>
  text === 'none' ? [...before] : collect(parseRange)(text, before)
