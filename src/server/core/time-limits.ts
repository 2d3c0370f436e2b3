// All time limits: how long the server waits for a client, a device, another service, the database or a node before it gives up.
// Pauses between two tries, and limits shorter than 2 s, are constants where they are used.
import { StartupError } from './failure.ts'

interface TimeLimit {
  readonly ms: number
  /** Says what happens when the time is over. */
  readonly effect: string
  /** The section of docs/contract.md that states the limit. */
  readonly contract?: string
  /** The figures in that section if they are not the limit itself: some promises add the time in which the end is noticed. */
  readonly contractSeconds?: readonly number[]
}

export const timeLimitTable = {
  // HTTP
  tlsHandshakeMs: {
    ms: 10_000,
    effect: 'a connection that has not finished its TLS handshake is closed',
    contract: '7.21',
  },
  requestHeadMs: { ms: 20_000, effect: 'a request whose head has not arrived is a 408', contract: '7.21' },
  strangerBodyMs: {
    ms: 20_000,
    effect: 'the server stops reading a body without a valid credential',
    contract: '7.21',
  },
  parsedBodyMs: { ms: 60_000, effect: 'the server stops reading a body with a valid credential', contract: '7.21' },
  bundleMs: { ms: 600_000, effect: 'the server stops reading a bundle from a device', contract: '7.21' },
  idleUploadMs: { ms: 60_000, effect: 'the server stops reading a bundle of which nothing arrives' },
  idleConnectionMs: { ms: 72_000, effect: 'a connection without a request is closed' },
  unreadAnswerCheckMs: {
    ms: 15_000,
    effect: 'a connection is checked; it is closed at the second check that finds nothing read',
    contract: '7.22',
    contractSeconds: [15, 30],
  },
  unreadStreamMs: { ms: 30_000, effect: 'an event stream whose reader reads nothing is cut', contract: '7.12' },
  unreadableLingerMs: { ms: 5_000, effect: 'the connection of a request that could not be read is destroyed' },
  requestDrainMs: { ms: 20_000, effect: 'a service that stops gives up the requests that still run', contract: '7.25' },
  deviceReleaseMs: { ms: 30_000, effect: 'a service that stops has disconnected all devices', contract: '7.25' },
  hungLoopMs: { ms: 10_000, effect: '/livez of the health port is a 503', contract: '7.24' },
  healthAnswerMs: {
    ms: 2_000,
    effect: 'a check of the health port that the server did not answer is a 503',
    contract: '7.24',
  },
  reportTurnMs: { ms: 30_000, effect: 'a report that waits for others is refused', contract: '16.queue' },
  healthIdleMs: { ms: 10_000, effect: 'an idle connection of the health port is closed' },

  // Other services
  outboundRequestMs: { ms: 15_000, effect: 'a request to another service fails as a timeout', contract: '10.delivery' },
  channelTestMs: { ms: 15_000, effect: 'channelsTest answers without a first attempt', contract: '10.channel' },
  mailMs: { ms: 60_000, effect: 'the sending of a mail fails', contract: '10.delivery' },
  mailSilenceMs: { ms: 30_000, effect: 'a mail fails whose SMTP server sends nothing' },
  mailStepMs: { ms: 15_000, effect: 'a mail fails whose SMTP server is not found, reached or does not greet' },
  inviteMailMs: { ms: 15_000, effect: 'usersInvite answers although its mail was not accepted' },
  sessionCheckMs: {
    ms: 3_000,
    effect: 'a request goes on without the answer of the identity provider',
    contract: '11.oidc',
  },

  // Devices
  mqttConnectMs: {
    ms: 10_000,
    effect: 'a connection without CONNECT, or without the header of its balancer, is closed',
  },
  lateAnswerMs: {
    ms: 60_000,
    effect: 'a repeat of a request with an Idempotency-Key no longer waits for an answer that follows the commit',
    contract: '7.once',
  },
  gatewayTestMs: { ms: 20_000, effect: 'gatewayDevicesTest answers without a result', contract: '13.test' },
  mqttUnreadMs: { ms: 20_000, effect: 'a device that does not read what it is sent is disconnected' },
  mqttCloseMs: { ms: 2_000, effect: 'a closing connection is destroyed although its last packets were not sent' },
  storeOutageMs: { ms: 45_000, effect: 'devices are disconnected because the database is away', contract: '8.outage' },

  // The database
  databaseConnectMs: { ms: 5_000, effect: 'a request that found no connection to PostgreSQL fails' },
  databaseStatementMs: { ms: 9_000, effect: 'PostgreSQL cancels a statement' },
  databaseAnswerMs: {
    ms: 10_000,
    effect: 'a connection to PostgreSQL without an answer is given up',
    contract: '2.5',
    contractSeconds: [12],
  },
  databaseProbeMs: { ms: 3_000, effect: 'the probe of PostgreSQL opens another connection' },
  writeTurnMs: {
    ms: 5_000,
    effect: 'a write that waits for its turn in the process, or for a lock of PostgreSQL, is refused',
  },
  writeRaceMs: { ms: 5_000, effect: 'a write that keeps losing races against other processes is refused' },
  idleTransactionMs: { ms: 5_000, effect: 'PostgreSQL ends a session that is idle in a transaction' },
  lateCommitMs: { ms: 10_000, effect: 'a commit on a lost connection has succeeded or failed' },
  secretFileMs: { ms: 3_000, effect: 'a start gives up waiting for the key file of another start' },
  partitionLockMs: { ms: 10_000, effect: 'a copy whose target is locked by another program fails' },
  serverLockMs: { ms: 5_000, effect: 'a command that PostgreSQL does not give the server lock fails' },
  fileLockMs: { ms: 5_000, effect: 'a start that SQLite does not give the lock of its file fails' },

  // Nodes
  unlockedNodeMs: {
    ms: 5_000,
    effect: 'a node without a heartbeat whose lock is free is declared dead',
    contract: '8.presence',
    contractSeconds: [6],
  },
  lockedNodeMs: {
    ms: 15_000,
    effect: 'a node without a heartbeat is declared dead, whatever holds its lock',
    contract: '8.presence',
    contractSeconds: [16],
  },
  ownBeatsMs: { ms: 15_000, effect: 'a node whose own heartbeat had no gap judges others' },
  ownMessageMs: {
    ms: 3_000,
    effect: 'a node that does not receive its own messages opens another session, and refuses event streams',
  },
  controlConnectMs: { ms: 3_000, effect: 'the opening of the control session is tried again' },
  controlLockMs: { ms: 2_000, effect: 'a statement of the control session that waits for a lock fails' },
  controlStatementMs: { ms: 2_500, effect: 'PostgreSQL cancels a statement of the control session' },
  controlAnswerMs: { ms: 3_000, effect: 'a control session without an answer is given up' },
  feedJoinMs: { ms: 5_000, effect: 'a start goes on although the event feed has not joined, and sends all events' },
  followAnswerMs: {
    ms: 2_000,
    effect: 'an event stream begins although a node has not confirmed that it sends its events',
    contract: 'D.43',
  },
  nodeNameMs: { ms: 2_000, effect: 'a start whose name another node has is refused' },
  nodeRelockMs: { ms: 5_000, effect: 'a start declares nodes dead that have no lock after a start of PostgreSQL' },
  nodeLeaveMs: { ms: 3_000, effect: 'a node that stops gives up writing that it has left' },
  commandFlushMs: { ms: 2_000, effect: 'a command ends although its messages to the nodes were not sent' },
  directConnectionMs: { ms: 5_000, effect: 'a start behind a pooler is refused' },
} as const satisfies Record<string, TimeLimit>

/** The limits in milliseconds. */
export type TimeLimits = { readonly [name in keyof typeof timeLimitTable]: number }

const minScaledMs = 2_000

/**
 * Only tests shorten limits. What exceeds 2 s is multiplied: a scaled limit is never below 2 s, and of two limits the longer one stays
 * the longer one.
 */
export function scaleTimeLimits(factor: number): TimeLimits {
  if (!(factor > 0 && factor <= 1)) {
    throw new StartupError(
      'The factor of time limits must be greater than 0 and at most 1: it is for tests, which shorten limits.',
    )
  }
  const scale = (ms: number) => Math.round(minScaledMs + (ms - minScaledMs) * factor)
  const scaled = Object.entries(timeLimitTable).map(([name, { ms }]) => [name, scale(ms)])
  return Object.fromEntries(scaled) as TimeLimits
}

export const timeLimits: TimeLimits = scaleTimeLimits(1)
