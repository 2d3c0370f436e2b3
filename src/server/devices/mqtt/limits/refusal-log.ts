// Counts the connections of devices that are refused, and logs each device and reason once a minute, with a limit for each address.
import { keepAliveSeconds } from '../../../../contract/device/protocol.ts'
import { TokenBuckets } from '../../../auth/token-bucket.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Log } from '../../../core/log.ts'
import { isUuid } from '../../../core/uuid.ts'
import type { UnenrolledDevice } from '../handlers.ts'
import type { DeviceMetrics } from '../metrics.ts'

const reasons = {
  version: 'this version of MQTT is not supported',
  'keep-alive': `the keep-alive is not between ${keepAliveSeconds.min} and ${keepAliveSeconds.max} seconds`,
  credential: 'the credential is not known',
  unenrolled: 'its endpoint was unenrolled, and it is told so',
  'foreign topic': 'the topic is not its own',
  'too often': 'it connects too often',
  'bad messages': 'it sent too many bad messages',
} as const
export type RefusalCause = keyof typeof reasons

interface RefusedPeer {
  readonly address: string
  /** A device whose credential is, or was, that of an endpoint. */
  readonly device?: UnenrolledDevice | undefined
  /** The user name of a CONNECT whose credential was not accepted, or not looked at. */
  readonly username?: string | undefined
  /** Finds the device by its credential, which was not looked at yet. Is called only if a line is logged. */
  readonly findDevice?: () => Promise<UnenrolledDevice | undefined>
}

export class RefusalLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #metrics: DeviceMetrics
  readonly #lines = new TokenBuckets({ rate: 1 / 60, burst: 1 })
  /** Limits the lines of one address for devices without a valid credential: a client that sends a new name with each attempt must not fill the log. */
  readonly #claims = new TokenBuckets({ rate: 1 / 2, burst: 30 })

  constructor(log: Log, clock: Clock, metrics: DeviceMetrics) {
    this.#log = log
    this.#clock = clock
    this.#metrics = metrics
  }

  record(cause: RefusalCause, { address, device, username = '', findDevice }: RefusedPeer): void {
    this.#metrics.refused.inc({ reason: cause })
    const now = this.#clock.now()
    // A user name that is no UUID may be a secret in the wrong place.
    const endpoint = device?.id ?? (isUuid(username) ? username : undefined)
    if (!this.#lines.of(`${cause} ${device?.id ?? `${address} ${endpoint}`}`, now).take(now)) return
    if (!device && !this.#claims.of(address, now).take(now)) return
    const write = ({ org, serial }: Partial<UnenrolledDevice> = {}) =>
      this.#log.info({ org: org?.id, endpoint, serial, address, reason: reasons[cause] }, 'device refused')
    // Without an answer of the database the line has no serial.
    if (findDevice) void findDevice().then(write, () => write())
    else write(device)
  }
}
