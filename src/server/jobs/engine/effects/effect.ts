// Carries out the action of a job on endpoints of a unit, as the actor of the job: the change, its audit entry and the progress of the job are one commit.
import type { RequestContext } from '../../../context/request-context.ts'
import type { Tx } from '../../../db/handles.ts'
import { type ChangeId, change } from '../../../journal/audit/change.ts'
import type { ChangeResult } from '../../../journal/audit/change-result.ts'
import type { JobRow } from '../../rows.ts'
import type { EngineEndpointRow } from '../facts-store.ts'
import { lockJobIfUnchanged } from '../lock-job.ts'
import { beginUnit, markEndpointSent, raiseJobProgress, updateJobEndpointState } from '../progress-store.ts'

export interface EffectInput {
  readonly ctx: RequestContext
  readonly job: JobRow
  readonly unit: number
  /** The endpoints of the unit to which nothing was sent yet. */
  readonly endpoints: readonly EngineEndpointRow[]
}

export interface SendOptions {
  /** How long collected logs are kept. */
  readonly logRetentionDays: number
}

/** The result of an effect on one endpoint. */
export interface SentEffect {
  readonly id: string
  readonly versionBefore?: number
  readonly versionAfter?: number
  readonly profileBefore?: number | null
  readonly isProfileChanged?: boolean
  readonly operation?: string
}

/** A person has taken a step with the job since the engine decided, or the unit has gone on. */
export class OutdatedStep extends Error {
  override readonly name = 'OutdatedStep'
}

/** Devices of the unit have disconnected since the facts were read. The next run sees that, and the unit waits for them. */
export class DevicesOffline extends Error {
  override readonly name = 'DevicesOffline'
}

interface EffectWork<T> {
  readonly changed: ChangeResult<T>
  readonly sent: readonly SentEffect[]
  /** Endpoints of the unit to which nothing is sent, because they are offline. */
  readonly skipped?: readonly string[]
}

/** Rolls everything back if the job or the unit is not as it was when the engine decided. */
export async function sendEffect<T>(
  { ctx, job, unit }: EffectInput,
  operation: ChangeId,
  work: (tx: Tx) => Promise<EffectWork<T>>,
): Promise<T> {
  return change(ctx, operation, async (tx) => {
    const now = ctx.clock.now()
    const key = { job: job.id }
    if (!(await lockJobIfUnchanged(tx, job))) throw new OutdatedStep()
    if ((await beginUnit(tx, { ...key, number: unit, now })).length === 0) throw new OutdatedStep()
    const { changed, sent, skipped = [] } = await work(tx)
    for (const effect of sent) {
      const marked = await markEndpointSent(tx, {
        ...key,
        id: effect.id,
        versionBefore: effect.versionBefore ?? null,
        versionAfter: effect.versionAfter ?? null,
        profileBefore: effect.profileBefore ?? null,
        profileChanged: effect.isProfileChanged ? 1 : 0,
        operation: effect.operation ?? null,
      })
      if (marked.length === 0) throw new OutdatedStep()
    }
    for (const id of skipped) {
      await updateJobEndpointState(tx, {
        ...key,
        id,
        from: 'PENDING',
        state: 'SKIPPED',
        error: 'The device was offline when the job reached its room. Repeat the action when it is online.',
      })
    }
    await raiseJobProgress(tx, { ...key, now })
    return { ...changed, jobId: job.id }
  })
}
