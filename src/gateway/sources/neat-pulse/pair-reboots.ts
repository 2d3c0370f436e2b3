// Reboots of paired devices: Neat Pulse restarts the whole pair group, so one request does for the commands of all its members.
import { minuteMs } from '../../../contract/durations.ts'

/** A request for one member that restarts the others too. It counts for one command of each of them. */
export interface CoveredReboot {
  readonly atMs: number
  /** PENDING while there is no answer. */
  readonly outcome: 'PENDING' | 'DONE' | { readonly failure: string }
}

/** A device of a pair group. */
export interface PairMember {
  readonly id: string
  readonly covered: CoveredReboot | undefined
  /** Resolves when it is durable. */
  cover(reboot: CoveredReboot | undefined): Promise<void>
}

/** The commands for the members of a group are valid for five minutes. */
const coveredForMs = 5 * minuteMs
export const notKnown = 'It is not known whether it was sent'

export class PairReboots {
  readonly #running = new Map<string, Promise<void>>()

  /** Rejects with the reason if the reboot failed. */
  async reboot(member: PairMember, others: readonly PairMember[], send: () => Promise<void>): Promise<void> {
    const running = this.#running.get(member.id)
    const { covered } = member
    if (covered && isCurrent(covered)) {
      await member.cover(undefined)
      if (running) return running
      if (covered.outcome === 'DONE') return
      throw new Error(
        covered.outcome === 'PENDING' ? `${notKnown}: the gateway was stopped before.` : covered.outcome.failure,
      )
    }
    const atMs = Date.now()
    const covering = Promise.all(others.map((other) => other.cover({ atMs, outcome: 'PENDING' })))
    const sent = covering.then(send)
    for (const { id } of others) this.#running.set(id, sent)
    const outcome = await sent.then(
      () => 'DONE' as const,
      (error: Error) => ({ failure: error.message }),
    )
    for (const { id } of others) if (this.#running.get(id) === sent) this.#running.delete(id)
    // A member whose command came already has used it up.
    const waiting = others.filter((other) => other.covered?.atMs === atMs)
    await Promise.all(waiting.map((other) => other.cover({ atMs, outcome })))
    return sent
  }

  /** Whether the next reboot of this member was done with that of another one. */
  isCovered({ covered }: PairMember): boolean {
    return covered !== undefined && isCurrent(covered)
  }
}

const isCurrent = ({ atMs }: CoveredReboot): boolean => Math.abs(Date.now() - atMs) < coveredForMs
