// Moves the endpoints of a unit back to the rooms in which a MOVE job found them. [contract 12.rollback]

import type { RequestContext } from '../../../context/request-context.ts'
import type { OrgReader, Tx } from '../../../db/handles.ts'
import { makeVersions } from '../../../fleet/configs/make-versions.ts'
import { endpointRef, valuesByEndpoint } from '../../../fleet/endpoints/fields.ts'
import {
  listPairedEndpoints,
  type PairedEndpoint,
  updateProfileOf,
  updateRoomOf,
} from '../../../fleet/endpoints/store.ts'
import { change } from '../../../journal/audit/change.ts'
import { auditRef } from '../../../journal/audit/change-result.ts'
import { raiseResourceVersions } from '../../../journal/places/versions.ts'
import type { EndpointPlan } from './job-changes.ts'
import { deleteMoves, listMoves, type Move } from './move-store.ts'
import { NothingToRestore, planEndpoint, type RollbackOutcome, rollBackEndpoint } from './roll-back-endpoint.ts'
import { updateEndpointRolledBack } from './rollback-store.ts'

interface MovedUnit {
  readonly job: number
  readonly unit: number
}

/** A moved endpoint as it is now. */
interface MovedEndpoint extends PairedEndpoint {
  /** Undefined if the job has not moved it. */
  readonly move: Move | undefined
}

type Outcomes = ReadonlyMap<string, RollbackOutcome>

/** `touched` are the endpoints that the job targets. Returns their outcomes, and those of the endpoints that were paired with them. */
export async function rollBackMoves(
  ctx: RequestContext,
  { job, unit }: MovedUnit,
  touched: readonly string[],
): Promise<Outcomes> {
  const moves = await listMoves(ctx.db, { job, unit })
  const endpoints = await listPairedEndpoints(ctx.db, { ids: moves.map(({ endpoint_id }) => endpoint_id) })
  const groups = Map.groupBy(endpoints, ({ leader, apart }) => JSON.stringify([leader, apart]))
  const outcomes = new Map<string, RollbackOutcome>()
  for (const group of groups.values()) {
    const ids = group.map(({ id }) => id)
    for (const [id, outcome] of await rollBackGroup(ctx, { job, unit }, ids)) outcomes.set(id, outcome)
  }
  const isMoved = new Set(moves.map(({ endpoint_id }) => endpoint_id))
  const others = touched.filter((id) => !outcomes.has(id))
  const kept = others.map((id): [string, RollbackOutcome] => [id, isMoved.has(id) ? deleted : unrecorded])
  return new Map([...outcomes, ...(await writeOutcomes(ctx, { job, unit }, new Map(kept)))])
}

const deleted = { state: 'KEPT', error: 'the endpoint was deleted' } as const
/** Version 0.2.0 moved endpoints without a row for each. */
const unrecorded = { state: 'KEPT', error: 'the room that it had was not recorded' } as const

/** Endpoints that are paired return together or not at all, in one commit with their states. */
async function rollBackGroup(ctx: RequestContext, of: MovedUnit, ids: readonly string[]): Promise<Outcomes> {
  const known = await readGroup(ctx.db, of, ids)
  const kept = keptOutcomes(known)
  if (kept) return writeOutcomes(ctx, of, kept)
  // None of these endpoints moved: the job has at most assigned them the profile of the room in which they were already.
  if (known.every(({ move, room_id }) => move?.room_before === room_id)) return rollBackProfiles(ctx, of, ids)
  let lateObstacle: Outcomes | undefined
  try {
    const { outcomes, changed } = await change(ctx, 'endpointsMoveRoom', async (tx) => {
      // The head of the audit log is locked now, so no person moves them between this check and the commit.
      const group = await readGroup(tx, of, ids)
      lateObstacle = keptOutcomes(group)
      if (lateObstacle) throw new NothingToRestore()
      return moveBack(tx, ctx, of, group)
    })
    ctx.devices.wake(changed)
    return outcomes
  } catch (error) {
    if (!(error instanceof NothingToRestore) || !lateObstacle) throw error
    return writeOutcomes(ctx, of, lateObstacle)
  }
}

async function readGroup(on: OrgReader, of: MovedUnit, ids: readonly string[]): Promise<MovedEndpoint[]> {
  const moves = new Map((await listMoves(on, of)).map((move) => [move.endpoint_id, move]))
  return (await listPairedEndpoints(on, { ids })).map((endpoint) => ({ ...endpoint, move: moves.get(endpoint.id) }))
}

/** Says why an endpoint cannot return. A reason gives no name of a room, because not everybody who sees the job sees the room. */
function obstacleOf({ move, room_id }: MovedEndpoint): string | undefined {
  if (!move || room_id !== move.room_after) return 'it was moved to another room since'
  const wasDeleted = move.room_before !== null && move.room_name === null
  return wasDeleted ? `the room ${move.room_before} that it had was deleted` : undefined
}

/** Undefined if the whole group can return. */
function keptOutcomes(group: readonly MovedEndpoint[]): Outcomes | undefined {
  const moved = group.filter(({ move }) => move !== undefined)
  const isJoined = moved.length < group.length
  if (!isJoined && group.every((endpoint) => obstacleOf(endpoint) === undefined)) return undefined
  const ofPair = isJoined
    ? 'it is now paired with a device that the job did not move'
    : 'a device that it is paired with cannot return'
  return new Map(moved.map((one) => [one.id, { state: 'KEPT', error: obstacleOf(one) ?? ofPair }]))
}

async function writeOutcomes(ctx: RequestContext, { job }: MovedUnit, outcomes: Outcomes): Promise<Outcomes> {
  await ctx.db.telemetry(async (tx) => {
    for (const [endpoint, outcome] of outcomes) await updateEndpointRolledBack(tx, { job, endpoint, ...outcome })
  })
  return outcomes
}

async function rollBackProfiles(ctx: RequestContext, { job }: MovedUnit, ids: readonly string[]): Promise<Outcomes> {
  const outcomes = new Map<string, RollbackOutcome>()
  for (const id of ids) outcomes.set(id, await rollBackEndpoint(ctx, job, id))
  return outcomes
}

/** The profile of an endpoint returns with its room, unless it was changed since. */
async function moveBack(tx: Tx, ctx: RequestContext, { job, unit }: MovedUnit, group: readonly MovedEndpoint[]) {
  const ids = group.map(({ id }) => id)
  const moved = group.filter(({ move, room_id }) => move?.room_before !== room_id)
  const byRoom = Map.groupBy(moved, ({ move }) => move?.room_before ?? null)
  for (const [room, returning] of byRoom) {
    await updateRoomOf(
      tx,
      returning.map(({ id }) => id),
      room,
      ctx.clock.now(),
    )
  }
  const rooms = group.flatMap(({ room_id, move }) => [room_id, move?.room_before ?? null])
  await raiseResourceVersions(tx, { endpointsOfRoom: [...new Set(rooms)].filter((id) => id !== null) })

  const plans = new Map<string, EndpointPlan | undefined>()
  for (const id of ids) plans.set(id, (await planEndpoint(tx, job, id))?.plan)
  const reassigned = group.filter(({ id }) => plans.get(id)?.profileId !== undefined)
  for (const { id } of reassigned) await updateProfileOf(tx, { ids: [id], profile: plans.get(id)?.profileId ?? null })
  const changed = reassigned.map(({ id }) => id)
  await makeVersions(tx, ctx, changed, { jobId: job })

  const outcomes: Outcomes = new Map(
    ids.map((id) => [id, { state: 'ROLLED_BACK', error: plans.get(id)?.kept.join('; ') || null }]),
  )
  for (const [endpoint, outcome] of outcomes) await updateEndpointRolledBack(tx, { job, endpoint, ...outcome })
  await deleteMoves(tx, { job, unit, ids })
  return {
    result: { outcomes, changed },
    target: targetOf(group, [...byRoom.keys()]),
    before: {
      roomIds: valuesByEndpoint(moved, ({ room_id }) => room_id),
      ...(reassigned.length > 0 && { profileIds: valuesByEndpoint(reassigned, ({ profile_id }) => profile_id) }),
    },
    after: {
      roomIds: valuesByEndpoint(moved, ({ move }) => move?.room_before ?? null),
      ...(reassigned.length > 0 && {
        profileIds: valuesByEndpoint(reassigned, ({ id }) => plans.get(id)?.profileId ?? null),
      }),
    },
    affected: group.map(endpointRef),
    jobId: job,
  }
}

/** The room, as for every move. Endpoints that return to several rooms, or to none, are named by the first of them. */
function targetOf(group: readonly MovedEndpoint[], rooms: readonly (number | null)[]) {
  const [first] = group
  if (!first) throw new Error('a group has no endpoint')
  const [room, ...others] = rooms
  const move = group.find((endpoint) => endpoint.move?.room_before === room)?.move
  if (room == null || others.length > 0 || move?.room_name == null) return endpointRef(first)
  return auditRef('room', { id: room, name: move.room_name })
}
