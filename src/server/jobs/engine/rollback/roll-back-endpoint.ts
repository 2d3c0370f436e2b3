// Gives one endpoint, or one room, back what it had before a job, in one commit with the state of that. [contract 12.rollback]

import type { RequestContext } from '../../../context/request-context.ts'
import type { OrgReader, Tx } from '../../../db/handles.ts'
import { makeVersions } from '../../../fleet/configs/make-versions.ts'
import { setExplicit } from '../../../fleet/configs/set-explicit.ts'
import { type EndpointConfigRow, findConfig } from '../../../fleet/configs/store.ts'
import { canDo } from '../../../fleet/endpoints/device-actions.ts'
import { endpointRef } from '../../../fleet/endpoints/fields.ts'
import { updateProfileOf } from '../../../fleet/endpoints/store.ts'
import { findProfile } from '../../../fleet/profiles/store.ts'
import { findRoom, updateRoomProfile } from '../../../fleet/rooms/store.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../../journal/places/versions.ts'
import { type EndpointPlan, JobChanges } from './job-changes.ts'
import {
  findProfileNameOf,
  listProfileIds,
  listVersionsSinceJob,
  updateEndpointRolledBack,
  updateUnitRoomRestored,
} from './rollback-store.ts'

export type RollbackOutcome = { readonly state: 'ROLLED_BACK' | 'KEPT'; readonly error: string | null }

/** Thrown to end a transaction without a change: a person was faster. */
export class NothingToRestore extends Error {}

/** The context must see everything: a rollback that was allowed is finished. */
export async function rollBackEndpoint(ctx: RequestContext, jobId: number, id: string): Promise<RollbackOutcome> {
  const known = await planEndpoint(ctx.db, jobId, id)
  if (!restoresSomething(known?.plan)) return keepEndpoint(ctx, jobId, id, known?.plan)
  try {
    const operation = known?.plan.profileId === undefined ? 'endpointsApplyConfig' : 'endpointsAssignProfile'
    const outcome = await change(ctx, operation, async (tx) => {
      // The head of the audit log is locked now, so that no person changes the endpoint between this plan and the commit.
      const planned = await planEndpoint(tx, jobId, id)
      if (!planned || !restoresSomething(planned.plan)) throw new NothingToRestore()
      const { row, plan } = planned
      const outcome = rollbackOutcome(plan)
      const changed =
        plan.profileId === undefined
          ? await setExplicit(tx, ctx, row, plan.keys ?? { config: row.explicit, secrets: row.secrets }, { jobId })
          : await restoreProfile(tx, ctx, row, plan.profileId, jobId)
      await updateEndpointRolledBack(tx, { job: jobId, endpoint: id, ...outcome })
      return { ...changed, result: outcome }
    })
    ctx.devices.wake([id])
    return outcome
  } catch (error) {
    if (!(error instanceof NothingToRestore)) throw error
    return keepEndpoint(ctx, jobId, id, (await planEndpoint(ctx.db, jobId, id))?.plan)
  }
}

const restoresSomething = (plan: EndpointPlan | undefined): boolean =>
  plan !== undefined && (plan.keys !== undefined || plan.profileId !== undefined)

/** An endpoint is KEPT only if the job had changed something and nothing of it could be restored. */
function rollbackOutcome(plan: EndpointPlan | undefined): RollbackOutcome {
  if (!plan) return { state: 'KEPT', error: 'the endpoint was deleted' }
  const isKept = !restoresSomething(plan) && plan.kept.length > 0
  return { state: isKept ? 'KEPT' : 'ROLLED_BACK', error: plan.kept.length === 0 ? null : plan.kept.join('; ') }
}

async function keepEndpoint(
  ctx: RequestContext,
  jobId: number,
  id: string,
  plan: EndpointPlan | undefined,
): Promise<RollbackOutcome> {
  const outcome = rollbackOutcome(plan)
  await ctx.db.telemetry((tx) => updateEndpointRolledBack(tx, { job: jobId, endpoint: id, ...outcome }))
  return outcome
}

const unablePlan: EndpointPlan = { keys: undefined, profileId: undefined, kept: ['the device no longer has settings'] }

const versionsPerPage = 200

/** Returns undefined if the endpoint was deleted. */
export async function planEndpoint(on: OrgReader, jobId: number, id: string) {
  const row = await findConfig(on, { id })
  if (!row) return undefined
  // A device that no longer has settings keeps what it has.
  if (!canDo(row, 'config')) return { row, plan: unablePlan }
  const changes = new JobChanges(jobId)
  for (let after = -1; ; ) {
    const versions = await listVersionsSinceJob(on, { job: jobId, endpoint: id, after, limit: versionsPerPage })
    for (const version of versions) changes.add(version)
    const last = versions.at(-1)
    if (!last || versions.length < versionsPerPage) break
    after = last.version
  }
  const profiles = new Set((await listProfileIds(on)).map((profile) => profile.id))
  const profile = row.profile_id === null ? undefined : await findProfileNameOf(on, { id: row.profile_id })
  const present = { ...row, profile_name: profile?.name ?? null }
  return { row, plan: changes.plan(present, (profileId) => profiles.has(profileId)) }
}

async function restoreProfile(
  tx: Tx,
  ctx: RequestContext,
  row: EndpointConfigRow,
  profileId: number | null,
  jobId: number,
) {
  await updateProfileOf(tx, { ids: [row.id], profile: profileId })
  await raiseResourceVersions(tx, { endpointsOfRoom: [row.room_id] })
  await makeVersions(tx, ctx, [row.id], { jobId })
  return {
    target: endpointRef(row),
    before: { profileId: row.profile_id },
    after: { profileId },
    undone: profileId === null,
    jobId,
  }
}

interface ChangedRoom {
  readonly unit: number
  readonly room_id: number
  readonly profile_before: number | null
}

/**
 * Gives a room back its profile if it still has the one of the job. Versions of rooms are not kept, so that a profile which people have taken away and
 * assigned again counts as the job's.
 */
export async function rollBackRoom(
  ctx: RequestContext,
  jobId: number,
  jobProfileId: number | null,
  { unit, room_id: id, profile_before: profileId }: ChangedRoom,
): Promise<void> {
  const unitRoom = { job: jobId, unit, room: id }
  try {
    await change(ctx, 'roomsAssignProfile', async (tx) => {
      const room = await findRoom(tx, { id })
      const exists = profileId === null || (await findProfile(tx, { id: profileId })) !== undefined
      if (room?.profile_id !== jobProfileId || !exists) throw new NothingToRestore()
      await updateRoomProfile(tx, { id, profile: profileId })
      await updateUnitRoomRestored(tx, unitRoom)
      return {
        result: undefined,
        target: auditRef('room', room),
        before: { profileId: room.profile_id },
        after: { profileId },
        undone: profileId === null,
        jobId,
      }
    })
  } catch (error) {
    if (!(error instanceof NothingToRestore)) throw error
    await ctx.db.telemetry((tx) => updateUnitRoomRestored(tx, unitRoom))
  }
}
