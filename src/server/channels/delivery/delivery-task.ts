// Sends the messages that wait for channels, with a worker for each channel that has something due. [contract 10.delivery]
import { setImmediate as nextTurn } from 'node:timers/promises'
import { secondMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import type { Log } from '../../core/log.ts'
import { TaskMoved } from '../../nodes/task-holders.ts'
import { releaseInSteps } from '../release-waiting.ts'
import { channelSettingsOf } from '../settings.ts'
import { ChannelWorker, type CountOutcome, type DeliveryOrg } from './channel-worker.ts'
import { ClockCheck, repairWaitingTimes } from './clock-repair.ts'
import { writeHeartbeat } from './holding/heartbeat.ts'
import { RetryReleases } from './releases.ts'
import type { SenderTools } from './senders/sender.ts'
import { AttemptSlots } from './slots.ts'
import { listEnabledChannels } from './store.ts'

/** After an error that is not the receiver's, such as a database that is away, a channel waits this long. */
const errorPauseMs = 30 * secondMs

export class DeliveryTask {
  readonly #tools: SenderTools
  readonly #countOutcome: CountOutcome
  readonly #log: Log
  readonly #slots = new AttemptSlots()
  readonly #releases = new RetryReleases()
  /** The key names the organisation and the channel. */
  readonly #workers = new Map<string, Promise<void>>()
  /** By organisation and channel: the time until which a channel waits after an error. */
  readonly #pausedUntil = new Map<string, number>()
  readonly #clockCheck = new ClockCheck()

  constructor(tools: SenderTools, countOutcome: CountOutcome, log: Log) {
    this.#tools = tools
    this.#countOutcome = countOutcome
    this.#log = log
  }

  /** Starts to send what is due in an organisation. Does not wait for receivers, because other organisations come next. */
  async run(services: Services, org: DeliveryOrg, signal: AbortSignal): Promise<void> {
    // SQLite answers synchronously: without this, the event loop would be blocked until all organisations were visited.
    await nextTurn()
    const now = services.clock.now()
    const db = services.db.forOrg(org.key)
    const notice = this.#clockCheck.compare(signal, now)
    for (const { id, next_at, ...row } of await listEnabledChannels(db)) {
      const key = `${org.key}/${id}`
      if (await this.#clockCheck.needsRepair(db, { id, ...row }, notice, now)) {
        this.#log.warn({ org: org.id, channel: id }, 'the clock was set back, waiting messages are due now')
        this.#pausedUntil.delete(key)
        this.#releases.forget(key)
        await repairWaitingTimes(db, id, now)
      }
      const { heartbeatMinutes } = channelSettingsOf(row)
      if (heartbeatMinutes !== undefined) {
        await writeHeartbeat(db, { id, heartbeatMinutes, heartbeatAt: row.heartbeat_at }, now)
      }
      if (this.#releases.takePending(key, now)) await releaseInSteps(db, id, now)
      if (next_at === null || next_at > now || (this.#pausedUntil.get(key) ?? 0) > now) continue
      this.#work(key, services, org, id, signal)
    }
  }

  /** Resolves when no attempt is under way. The tasks must have been stopped before. */
  async finish(): Promise<void> {
    await Promise.all(this.#workers.values())
  }

  #work(key: string, services: Services, org: DeliveryOrg, channelId: number, signal: AbortSignal): void {
    if (this.#workers.has(key)) return
    const worker = new ChannelWorker({
      services,
      org,
      channelId,
      tools: this.#tools,
      slots: this.#slots,
      releases: this.#releases,
      countOutcome: this.#countOutcome,
      log: this.#log,
      signal,
    })
    this.#pausedUntil.delete(key)
    const work = worker
      .run()
      .catch((error: Error) => {
        // The node that holds the task now sends what this one could not store.
        if (error instanceof TaskMoved) return
        this.#pausedUntil.set(key, services.clock.now() + errorPauseMs)
        this.#log.warn(
          { org: org.id, channel: channelId, reason: error.message },
          'delivery attempt interrupted, not counted, trying again',
        )
      })
      .finally(() => this.#workers.delete(key))
    this.#workers.set(key, work)
  }
}
