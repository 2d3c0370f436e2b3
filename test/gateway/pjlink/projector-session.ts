// A fake projector with a driver session to it, for the tests of the driver.
import { onTestFinished } from 'vitest'
import type { UpMessage } from '../../../src/contract/device/protocol.ts'
import type { Driver, DriverFailure, DriverItem, DriverSession } from '../../../src/gateway/driver.ts'
import { pjlinkDriver } from '../../../src/gateway/drivers/pjlink/pjlink-driver.ts'
import { type PjlinkTimings, usualPjlinkTimings } from '../../../src/gateway/drivers/pjlink/timings.ts'
import {
  FakeProjector,
  type FakeProjectorOptions,
} from '../../../src/simulator/hardware-fakes/projector/fake-projector.ts'
import { DroppingNetwork } from './dropping-network.ts'

/** A poll every 25 ms, and answers that a busy machine can give in time. */
export const shortPjlinkTimings: PjlinkTimings = {
  ...usualPjlinkTimings,
  attemptMs: 3_000,
  answerMs: 2_000,
  challenge256Ms: 1_000,
  minGapMs: 0,
  pollUnitMs: 5,
  retryEveryMs: 20,
  followMs: 10,
  quietMs: 0,
}

interface WatchedSession {
  readonly session: DriverSession
  /** Everything that was reported, in one object; taken back fields are null. */
  readonly status: UpMessage<'status'>
  readonly changes: UpMessage<'status'>[]
  /** The values of `power` in the order of their reports. */
  readonly powers: unknown[]
  readonly ended: Promise<DriverFailure>
}

export interface ProjectorMeeting {
  readonly fake: FakeProjector
  readonly network: DroppingNetwork
  readonly driver: Driver
  readonly item: DriverItem
  /** A test can change them while a session stands. */
  readonly timings: { -readonly [K in keyof PjlinkTimings]: PjlinkTimings[K] }
  open(changes?: Partial<DriverItem>): Promise<WatchedSession>
}

interface MeetingOptions {
  readonly projector?: FakeProjectorOptions
  readonly timings?: Partial<PjlinkTimings>
  readonly item?: Partial<DriverItem>
  /** POWR at the start; on by default. */
  readonly powr?: FakeProjector['powr']
}

export async function meetProjector({
  projector,
  timings: changes,
  item,
  powr = '1',
}: MeetingOptions = {}): Promise<ProjectorMeeting> {
  const fake = new FakeProjector({ warmUpMs: 60, coolDownMs: 60, ...projector })
  fake.powr = powr
  const port = await fake.listen()
  onTestFinished(() => fake.close())
  const network = new DroppingNetwork()
  const timings = { ...shortPjlinkTimings, ...changes }
  const driver = pjlinkDriver(timings)
  const whole: DriverItem = {
    host: '127.0.0.1',
    port,
    secret: projector?.password,
    options: { pollSeconds: 5 },
    ...item,
  }
  return {
    fake,
    network,
    driver,
    item: whole,
    timings,
    open: (changes) => openProjector(driver, network, { ...whole, ...changes }),
  }
}

export async function openProjector(
  driver: Driver,
  network: DroppingNetwork,
  item: DriverItem,
): Promise<WatchedSession> {
  const lifetime = new AbortController()
  onTestFinished(() => lifetime.abort())
  const session = await driver.open(item, { network, signal: lifetime.signal })
  const status = session.status()
  const changes: UpMessage<'status'>[] = []
  const powers = [status.power]
  session.on('status', (change) => {
    changes.push(change)
    Object.assign(status, change)
    if ('power' in change) powers.push(change.power)
  })
  const ended = new Promise<DriverFailure>((resolve) => session.once('ended', resolve))
  return { session, status, changes, powers, ended }
}
