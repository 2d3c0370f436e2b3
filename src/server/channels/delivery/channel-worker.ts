// Sends what is due to one channel, batch by batch, and stores what came of it. [contract 10.delivery]
import type { ChannelKind } from '../../../contract/channels/channels.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { Services } from '../../context/services.ts'
import type { Log } from '../../core/log.ts'
import type { OrgDatabase } from '../../db/org-database.ts'
import { type ChannelSecrets, type ChannelSettings, channelSecretsOf, channelSettingsOf } from '../settings.ts'
import { type NumberedRow, takeBatch } from './batch.ts'
import { type ChannelHealth, type DeliveryContext, recordFailure, recordSuccess } from './record-outcome.ts'
import type { RetryReleases } from './releases.ts'
import { outgoingMessage } from './senders/message.ts'
import type { SenderTools } from './senders/sender.ts'
import { senders } from './senders/senders.ts'
import type { AttemptSlots } from './slots.ts'
import { findEnabledChannel, findEnabledVersion } from './store.ts'

/** A receiver gets this many messages at the same time, each about another subject. */
const parallelAttempts = 4
const maxBatchMessages = 100
/** A receiver that fails gets small batches, so that each of them ends soon. */
const maxFailingBatchMessages = parallelAttempts

export type CountOutcome = (kind: ChannelKind, outcome: 'delivered' | 'failed') => void

export interface DeliveryOrg extends Org {
  readonly timezone: string
}

interface WorkerOptions {
  readonly services: Services
  readonly org: DeliveryOrg
  readonly channelId: number
  readonly tools: SenderTools
  readonly slots: AttemptSlots
  readonly releases: RetryReleases
  readonly countOutcome: CountOutcome
  readonly log: Log
  /** Is aborted when another node may send the messages of this organisation. */
  readonly signal: AbortSignal
}

interface OpenChannel extends ChannelHealth {
  readonly version: number
  readonly kind: ChannelKind
  readonly settings: ChannelSettings
  readonly secrets: ChannelSecrets
}

export class ChannelWorker {
  readonly #options: WorkerOptions
  readonly #db: OrgDatabase
  readonly #context: DeliveryContext

  constructor(options: WorkerOptions) {
    const { services, org, channelId, releases } = options
    this.#options = options
    this.#db = services.db.forOrg(org.key)
    this.#context = { db: this.#db, clock: services.clock, channelId, releases }
  }

  /** Returns when nothing is due any more, or the channel is disabled or deleted. */
  async run(): Promise<void> {
    const { services, org, channelId, signal } = this.#options
    for (;;) {
      const channel = signal.aborted ? undefined : await this.#open()
      if (!channel) return
      const limit = channel.isFailing ? maxFailingBatchMessages : maxBatchMessages
      const { kind, settings } = channel
      const now = services.clock.now()
      const batch = await takeBatch(this.#db, { channel: channelId, kind, settings, orgZone: org.timezone, now, limit })
      if (batch.chains.length === 0 && !batch.mayHaveMore) return
      await this.#sendAll(channel, batch.chains)
    }
  }

  async #open(): Promise<OpenChannel | undefined> {
    const { services, channelId } = this.#options
    const row = await findEnabledChannel(this.#db, { id: channelId })
    if (!row) return undefined
    return {
      version: row.version,
      kind: row.kind,
      settings: channelSettingsOf(row),
      secrets: channelSecretsOf(services.secrets, row),
      isFailing: row.failing_since !== null,
      hasSuccess: false,
    }
  }

  /**
   * A failure ends the batch early: the next one looks at what is due then. If something is thrown, the attempts that are under way
   * end first, because the next worker sends the same messages.
   */
  async #sendAll(channel: OpenChannel, chains: readonly (readonly NumberedRow[])[]): Promise<void> {
    const waiting = [...chains]
    let hasEnded = false
    const sendChains = async () => {
      try {
        for (let chain = waiting.shift(); chain && !hasEnded; chain = waiting.shift()) {
          for (const message of chain) {
            if (await this.#send(channel, message)) continue
            hasEnded = true
            break
          }
        }
      } catch (error) {
        hasEnded = true
        throw error
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: parallelAttempts }, sendChains))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  /** An edit, a new secret or a deletion changes where messages go, so that each attempt asks for it. */
  async #isCurrent({ version }: OpenChannel): Promise<boolean> {
    if (this.#options.signal.aborted) return false
    const row = await findEnabledVersion(this.#db, { id: this.#options.channelId })
    return row?.version === version && !this.#options.signal.aborted
  }

  /** Returns whether the message was delivered. */
  async #send(channel: OpenChannel, { row, sequence }: NumberedRow): Promise<boolean> {
    const { services, org, channelId, tools, slots, signal, countOutcome, log } = this.#options
    const { kind, settings, secrets } = channel
    const { attempts } = row
    const message = outgoingMessage(row, sequence, {
      org,
      publicUrl: services.publicUrl(),
      now: services.clock.now(),
    })
    const attempt = { org: org.key, channelId, isFailing: channel.isFailing }
    const outcome = await slots.run(attempt, async (ending) => {
      if (!(await this.#isCurrent(channel))) return undefined
      const now = services.clock.now()
      const either = AbortSignal.any([signal, ending])
      return senders[kind](tools, { message, settings, secrets, attempts, now, signal: either })
    })
    if (!outcome) return false
    if (outcome.isDelivered) {
      countOutcome(kind, 'delivered')
      await recordSuccess(this.#context, channel, row.message, outcome)
      return true
    }
    // An attempt that was cut short says nothing about the receiver.
    if (signal.aborted) return false
    countOutcome(kind, 'failed')
    const disabledReason = await recordFailure(this.#context, channel, row, outcome)
    if (disabledReason !== undefined) {
      log.warn({ org: org.id, channel: channelId, reason: disabledReason }, 'channel disabled')
    }
    return false
  }
}
