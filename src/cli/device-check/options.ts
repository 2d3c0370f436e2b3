// The options of `roomkeeper device-check`.
import { type Command, InvalidArgumentError } from 'commander'
import { whole } from '../simulate-options.ts'
import { allSteps, neededSteps, type Step } from './steps.ts'

const choosable = allSteps.filter((step) => !neededSteps.includes(step))

/** The ports differ from those of `serve`, which can run on the same machine. */
export const deviceCheckOptions = (command: Command): Command =>
  command
    .option('--host <address>', 'address of this machine that the device uses, such as 192.168.1.10', '127.0.0.1')
    .option('--port <number>', 'port for enrolment and logs; 0 takes a free one', whole(0, 65_535), 8090)
    .option('--mqtt-port <number>', 'port for MQTT; 0 takes a free one', whole(0, 65_535), 1884)
    .option('--tls-cert <file>', 'certificate (PEM), for a device that uses TLS only')
    .option('--tls-key <file>', 'key of the certificate (PEM)')
    .option('--wait <seconds>', 'how long to wait for the device', whole(1, 86_400), 600)
    .option('--sample-wait <seconds>', 'how long to wait for a sample', whole(1, 3_600), 75)
    .option('--only <steps>', `walk only these steps, separated by commas: ${choosable.join(', ')}`, stepNames)
    .option('--json', 'print JSON')

function stepNames(text: string): Step[] {
  const names = text.split(',') as Step[]
  if (names.every((name) => choosable.includes(name))) return names
  throw new InvalidArgumentError(`The steps are ${choosable.join(', ')}.`)
}
