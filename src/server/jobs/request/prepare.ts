// Turns a request into a job that could be stored: what it refers to exists, and its units are known. [contract 12.job]

import { configKeys } from '../../../contract/device/config-keys.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import { placedRoomNames } from '../../../contract/fleet/room-name.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, findReferenced } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { inParts } from '../../db/queries/in-parts.ts'
import { profileConflict } from '../../fleet/configs/profile-conflict.ts'
import { keysOf } from '../../fleet/configs/sealed-config.ts'
import { findProfile } from '../../fleet/profiles/store.ts'
import { findRoom } from '../../fleet/rooms/store.ts'
import { requireScopeFor } from '../action.ts'
import type { Action, JobRow } from '../rows.ts'
import { type FoundUnits, findLaterUnits, findUnits } from '../units/find-units.ts'
import type { NewUnit } from '../units/new-unit-store.ts'
import { listProfileKeys, type RoomWithWindow, type TargetedEndpoint } from '../units/target-store.ts'
import type { OrderedUnit } from '../units/units.ts'
import type { CheckedRequest } from './request.ts'
import { requireGrowingStages } from './stages.ts'

type JobContent = Pick<CheckedRequest, 'target' | 'action' | 'settings'>

export interface PreparedJob extends FoundUnits {
  /** By profile: the keys of the config that it locks. */
  readonly conflicts: ReadonlyMap<number, readonly string[]>
}

/** Reads outside of a transaction, because a large target would hold up all writers. */
export async function prepareJob(ctx: RequestContext, request: JobContent): Promise<PreparedJob> {
  await requireReferences(ctx.db, request.action)
  const found = await findUnits(ctx.db, request, ctx.clock.now())
  requireGrowingStages(request.settings.stages, found.units.length)
  return withConflicts(ctx.db, request.action, found)
}

/**
 * Prepares what matches since a job has started, and refuses an action whose profile or room is gone. It does not compare the stages: that
 * was done at the start.
 */
export async function prepareLaterUnits(
  ctx: RequestContext,
  request: JobContent,
  job: Pick<JobRow, 'id' | 'endpoint_count'>,
): Promise<PreparedJob> {
  await requireReferences(ctx.db, request.action)
  return withConflicts(ctx.db, request.action, await findLaterUnits(ctx.db, request, job, ctx.clock.now()))
}

const withConflicts = async (on: OrgReader, action: Action, found: FoundUnits): Promise<PreparedJob> => ({
  ...found,
  conflicts: await findConflicts(on, action, found.units),
})

/** Refuses a caller who may not do the action, and keys that a profile locks. A plan only shows both. */
export function requireAllowedJob(
  ctx: RequestContext,
  { action, settings }: JobContent,
  { conflicts }: PreparedJob,
): void {
  requireScopeFor(ctx, action.type)
  if (settings.skipConflicts || conflicts.size === 0) return
  const conflicting = new Set([...conflicts.values()].flat())
  const keys = Object.keys(configKeys).filter((name) => conflicting.has(name))
  throw profileConflict(keys)
}

/** Refuses an action whose profile or room does not exist, or is not visible. */
export async function requireReferences(on: OrgReader, { profileId, roomId }: Action): Promise<void> {
  await findReferenced('profile', profileId, (id) => findProfile(on, { id }))
  if (roomId !== undefined && !(await findRoom(on, { id: roomId }))) {
    throw new Failure('FAILED_PRECONDITION', `there is no room ${roomId}. Create it first, or name another.`)
  }
}

async function findConflicts(
  on: OrgReader,
  { config }: Action,
  units: readonly OrderedUnit<TargetedEndpoint>[],
): Promise<Map<number, readonly string[]>> {
  const conflicts = new Map<number, readonly string[]>()
  if (!config) return conflicts
  const ids = new Set<number>()
  for (const { endpoints } of units) {
    for (const { profile_id } of endpoints) if (profile_id !== null) ids.add(profile_id)
  }
  for (const profile of await listProfileKeys(on, { ids: [...ids] })) {
    const keys = keysOf(profile).filter((name) => Object.hasOwn(config, name))
    if (keys.length > 0) conflicts.set(profile.id, keys)
  }
  return conflicts
}

/** The profile of an endpoint of the unit that locks keys of the config, with these keys. */
export function conflictOf({ endpoints }: OrderedUnit<TargetedEndpoint>, conflicts: PreparedJob['conflicts']) {
  for (const { profile_id } of endpoints) {
    const keys = profile_id === null ? undefined : conflicts.get(profile_id)
    if (profile_id !== null && keys) return { profileId: profile_id, keys }
  }
  return undefined
}

export const conflictText = ({ profileId, keys }: { profileId: number; keys: readonly string[] }): string =>
  `profile ${profileId} locks ${keys.join(', ')}`

const maxNamedRooms = 5

export function unitName(unit: OrderedUnit<TargetedEndpoint>, rooms: ReadonlyMap<number, RoomWithWindow>): string {
  const [first] = unit.endpoints
  if (unit.roomIds.length === 0) return first ? endpointLabel(first) : ''
  const named = unit.roomIds.slice(0, maxNamedRooms).map((id) => {
    const room = rooms.get(id)
    return { name: room?.name ?? `room ${id}`, location: room?.location_name ?? undefined }
  })
  const others = unit.roomIds.length - named.length
  return placedRoomNames(named) + (others > 0 ? ` and ${others} more` : '')
}

/** Makes rows of the units, with turns of the event loop for others in between. Those with a conflict are skipped. */
export async function newUnitsOf({ units, rooms, conflicts }: PreparedJob, now: number): Promise<NewUnit[]> {
  const rows: NewUnit[] = []
  for await (const part of inParts(units)) {
    for (const unit of part) {
      const conflict = conflictOf(unit, conflicts)
      const [room] = unit.roomIds
      rows.push({
        number: unit.number,
        stage: unit.stage,
        state: conflict ? 'SKIPPED' : 'PENDING',
        reason: conflict ? conflictText(conflict) : null,
        name: unitName(unit, rooms),
        locationId: (room === undefined ? undefined : rooms.get(room)?.location_id) ?? null,
        endedAt: conflict ? now : null,
        roomIds: unit.roomIds,
        endpoints: unit.endpoints.map((endpoint) => ({ id: endpoint.id, name: endpointLabel(endpoint) })),
      })
    }
  }
  return rows
}
