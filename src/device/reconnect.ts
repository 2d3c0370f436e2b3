// How long a device waits before it tries again, and which addresses it may use.
import { backOffMs } from '../client/back-off.ts'
import { keepAliveSeconds } from '../contract/device/protocol.ts'
import { dayMs } from '../contract/durations.ts'

/** The waits between attempts to connect, to enrol and to upload logs. */
export const deviceBackOff = { firstMs: 1_000, maxMs: 60_000 }

/** How soon an agent notices that its connection is lost, and connects again. */
export interface ConnectionTimes {
  /** The service disconnects a device after one and a half times this without a packet. */
  readonly keepAliveSeconds: number
  /** From the start of an attempt to CONNACK. */
  readonly connectMs: number
  /** Between two attempts, unless the service refuses the credential. */
  readonly longestWaitMs: number
}
export const usualConnectionTimes: ConnectionTimes = {
  keepAliveSeconds: keepAliveSeconds.usual,
  connectMs: 30_000,
  longestWaitMs: deviceBackOff.maxMs,
}

/** A credential that has been refused for this long is tried once an hour. */
const frequentRetriesMs = 7 * dayMs
/** The jitter of the back-off takes up to a half, so the wait is an hour on average. */
const refusedBackOff = { firstMs: 4_800_000, maxMs: 4_800_000 }

/** The wait before the next attempt to connect. `refusedForMs` is how long the service has not known the credential; undefined if it knows it. */
export function retryWaitMs(
  failures: number,
  refusedForMs: number | undefined,
  { longestWaitMs }: Pick<ConnectionTimes, 'longestWaitMs'> = usualConnectionTimes,
  random = Math.random(),
): number {
  if (refusedForMs === undefined) return backOffMs(failures, { ...deviceBackOff, maxMs: longestWaitMs }, random)
  return backOffMs(failures, refusedForMs < frequentRetriesMs ? deviceBackOff : refusedBackOff, random)
}

export const isEncrypted = (address: string): boolean => /^(?:mqtts|wss):/.test(address)

/**
 * After a connection with TLS a device uses no plain address any more. Otherwise anybody who can block TLS in its network would
 * get the credential. The list itself came over HTTPS, so one without encrypted addresses is used as it is.
 */
export function usableAddresses(addresses: readonly string[], hasHadTls: boolean): readonly string[] {
  const encrypted = addresses.filter(isEncrypted)
  return hasHadTls && encrypted.length > 0 ? encrypted : addresses
}
