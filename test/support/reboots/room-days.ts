// Lives through a day of many rooms with meetings, outages and reboots that wait, and collects what must never happen. [contract 12.when]
import { type DeviceCommandMessage, inUseError } from '../../../src/contract/device/protocol.ts'
import { dayMs, hourMs, minuteMs } from '../../../src/contract/durations.ts'
import {
  expireCommands,
  listEndpointsWithOverdueCommand,
  listEndpointsWithQueuedCommand,
} from '../../../src/server/fleet/commands/progress.ts'
import { endpointsReboot } from '../../../src/server/fleet/commands/rules.ts'
import { seededRandom, between as wholeBetween } from '../../../src/simulator/seeded-random.ts'
import { type DayDevice, type DayRoom, stepMs } from './day-room.ts'
import type { QuietService } from './quiet-service.ts'

const sentWithinMs = 30_000
const refusedPauseMs = 10_000
/** A device that is not back this long after it has acknowledged has not done its reboot in time. */
const returnMs = 5 * minuteMs
/** From 5 in the morning to 9 in the evening; there are no meetings at night. */
export const dayLengthMs = 16 * hourMs

interface Reboot {
  readonly room: DayRoom
  /** The device that the request names. */
  readonly named: DayDevice
  readonly time: 'idle' | 'window'
  readonly deadline: number
  /** Since when nothing has been missing. */
  readySince: number | undefined
  /** An attempt that the named device has and has not answered. */
  lostUntil: number
  isAcknowledged: boolean
}

export class RoomDays {
  readonly problems: string[] = []
  readonly counts = { asked: 0, sent: 0, restarts: 0, refused: 0, lost: 0, late: 0, untoldMeetings: 0 }
  readonly #service: Omit<QuietService, 'intake'>
  readonly #rooms: readonly DayRoom[]
  readonly #start: number
  readonly #devices: ReadonlyMap<string, { device: DayDevice; room: DayRoom }>
  readonly #reboots = new Map<DayRoom, Reboot>()
  readonly #askAt = new Map<DayRoom, number>()
  #random = 0

  constructor(service: Omit<QuietService, 'intake'>, rooms: readonly DayRoom[], start: number) {
    this.#service = service
    this.#rooms = rooms
    this.#start = start
    this.#devices = new Map(
      rooms.flatMap((room) => room.devices.map((device) => [device.row.device.id, { device, room }] as const)),
    )
    for (const room of rooms) this.#askAt.set(room, start + this.#between(1, 12 * 180) * stepMs)
  }

  /** Lives through the day, and then until all devices are back and all reboots have ended. */
  async live(): Promise<void> {
    const end = this.#start + dayLengthMs
    for (let at = this.#start; at < end; at += stepMs) await this.#step(at)
    this.#askAt.clear()
    for (let at = end; at < end + 10 * minuteMs; at += stepMs) await this.#step(at)
    this.counts.late += [...this.#devices.values()].filter(({ device }) => device.restartedBy).length
    this.#service.clock.fix(end + dayMs)
    await expireCommands(this.#service.services)
  }

  async #step(at: number): Promise<void> {
    const { clock, services, ctx, deferredReboots } = this.#service
    for (const room of this.#rooms) room.countStep(at)
    clock.fix(at)
    // The service runs whenever it likes: before the reports of this time, after them, or both.
    const runsFirst = this.#between(0, 1) === 0
    if (runsFirst) await deferredReboots.run(services, ctx.org)
    await Promise.all(this.#rooms.map((room) => this.#report(room, at)))
    for (const room of this.#rooms) room.noteReports(at)
    await Promise.all(this.#rooms.map((room) => this.#ask(room, at)))
    if (!runsFirst) await deferredReboots.run(services, ctx.org)
    await expireCommands(services)
    const woken = [
      ...(await listEndpointsWithQueuedCommand(services)),
      ...(await listEndpointsWithOverdueCommand(services)),
    ]
    await Promise.all([...new Set(woken)].map((id) => this.#deliver(id, at)))
    for (const reboot of this.#reboots.values()) this.#checkIsSent(reboot, at)
  }

  async #report(room: DayRoom, at: number): Promise<void> {
    for (const device of room.devices) {
      const { row } = device
      const isOnline = device.isOnline(at)
      if (row.connection && !isOnline) await row.disconnect()
      if (!row.connection && isOnline) {
        await row.connect()
        device.statusAt = at === this.#start ? at : at + this.#between(0, 3) * stepMs
        if (device.restartedBy) await this.#reportBack(device, device.restartedBy, at)
      }
      if (!isOnline) continue
      const call = room.isInCall(at - device.lagMs)
      if (at >= device.statusAt && (!row.hasReported || row.toldCall !== call)) await row.reportStatus(call)
      if (!device.hasPeopleSensor || (at + device.seed * stepMs) % device.sampleEveryMs !== 0) continue
      const people = room.people(at)
      if (people + device.lastPeople === 0) continue
      await row.reportPeople(people)
      device.lastPeople = people
      if (people > 0) room.lastPeopleAt = at
    }
  }

  async #reportBack(device: DayDevice, command: string, at: number): Promise<void> {
    if (at >= device.acknowledgedAt + returnMs) this.counts.late++
    device.restartedBy = undefined
    await device.row.reportCommand(command, 'SUCCEEDED')
  }

  /** Asks for the next reboot of a room after the one before has ended. */
  async #ask(room: DayRoom, at: number): Promise<void> {
    const [named] = room.devices
    const askAt = this.#askAt.get(room) ?? Number.POSITIVE_INFINITY
    if (!named || at < askAt) return
    // Half of the requests come when people have just met and no report has told of them, if that happens soon.
    const isUntold = room.isUsed(at) && !room.isBusy(at)
    if (room.seed % 2 === 0 && !isUntold && at < askAt + 2 * hourMs) return
    const time = this.#between(0, 1) === 0 ? 'idle' : 'window'
    const withinHours = this.#between(1, 6)
    const deadline = at + withinHours * hourMs
    const { operations } = await endpointsReboot(this.#service.ctx, named.row.device.id, { when: time, withinHours })
    this.counts.asked += operations.length
    this.#askAt.set(room, deadline + this.#between(1, 720) * stepMs)
    this.#reboots.set(room, { room, named, time, deadline, readySince: undefined, lostUntil: 0, isAcknowledged: false })
  }

  async #deliver(id: string, at: number): Promise<void> {
    const { device, room } = this.#devices.get(id) ?? {}
    const reboot = room && this.#reboots.get(room)
    if (!device?.row.connection || !reboot) return
    for (const command of await device.row.takeCommands()) await this.#obey(command, device, reboot, at)
  }

  async #obey(command: DeviceCommandMessage, device: DayDevice, reboot: Reboot, at: number): Promise<void> {
    const { room } = reboot
    this.counts.sent++
    if (!('onlyIfIdle' in command)) this.#problem(reboot, at, 'was sent without onlyIfIdle')
    if (!room.isIdle(at)) this.#problem(reboot, at, 'was sent to a room that is not idle')
    if (!device.row.hasReported) this.#problem(reboot, at, 'was sent before the first status')
    if (reboot.time === 'window' && !room.isInWindow(at)) this.#problem(reboot, at, 'was sent outside of the window')
    if (at >= reboot.deadline) this.#problem(reboot, at, 'was sent after its deadline')
    if (this.#between(1, 30) === 1) {
      this.counts.lost++
      if (device === reboot.named) reboot.lostUntil = Date.parse(command.deadline)
      return
    }
    if (device.checks && room.isUsed(at)) {
      this.counts.refused++
      device.refusedAt = at
      await device.row.reportCommand(command.id, 'FAILED', inUseError)
      return
    }
    // A device that does not check may restart in a meeting that has not been reported yet. One that checks must not.
    if (room.isUsed(at) && device.checks) this.#problem(reboot, at, 'restarted a device in a meeting')
    else if (room.isUsed(at)) this.counts.untoldMeetings++
    this.counts.restarts++
    if (device === reboot.named) reboot.isAcknowledged = true
    await device.row.reportCommand(command.id, 'ACKNOWLEDGED')
    await device.row.disconnect()
    device.restartedBy = command.id
    device.acknowledgedAt = at
    device.restartsUntil = at + this.#between(2, 6) * stepMs
  }

  #checkIsSent(reboot: Reboot, at: number): void {
    const { room, named, time, deadline, lostUntil, isAcknowledged } = reboot
    const isReady =
      !isAcknowledged &&
      at >= lostUntil &&
      at < deadline &&
      at >= named.refusedAt + refusedPauseMs &&
      named.row.hasReported &&
      room.isIdle(at) &&
      (time === 'idle' || room.isInWindow(at))
    if (!isReady) reboot.readySince = undefined
    else reboot.readySince ??= at
    if (at - (reboot.readySince ?? at) > sentWithinMs) this.#problem(reboot, at, 'was not sent within 30 seconds')
  }

  #problem({ room, named, time }: Reboot, at: number, what: string): void {
    const { id } = named.row.device
    this.problems.push(`${new Date(at).toISOString()} room ${room.id}: the ${time} reboot of ${id} ${what}`)
  }

  #between(low: number, high: number): number {
    return wholeBetween(low, high, seededRandom(this.#start / stepMs, ++this.#random))
  }
}
