// Finds the endpoints of a target and makes units of them, in batches that leave turns of the event loop to others. [contract 12.job]

import { setImmediate as nextTurn } from 'node:timers/promises'
import { daySeconds } from '../../../contract/durations.ts'
import { type JobActionRow, jobActions } from '../../../contract/jobs/action-table.ts'
import { maxTargetEndpoints } from '../../../contract/jobs/job-request.ts'
import { Failure, invalid } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { inParts } from '../../db/queries/in-parts.ts'
import { listPairedEndpoints } from '../../fleet/endpoints/store.ts'
import { isAble } from '../action.ts'
import type { Action, JobRow, JobSettings, Target } from '../rows.ts'
import {
  listNumbersInRooms,
  listRoomsWithWindows,
  listRoomUse,
  listTargeted,
  type RoomWithWindow,
  type TargetedEndpoint,
} from './target-store.ts'
import { listEndpointsInJob } from './unit-store.ts'
import { groupIntoUnits, type OrderedUnit, orderUnits, type RoomFacts } from './units.ts'

const targetPageRows = 1000
/** The days whose use of rooms decides which units come first. */
const useDays = 14

export interface FoundUnits {
  readonly units: readonly OrderedUnit<TargetedEndpoint>[]
  readonly rooms: ReadonlyMap<number, RoomWithWindow>
  readonly endpointCount: number
  /** Endpoints that match and whose devices cannot do the action. They are in no unit. */
  readonly unableCount: number
}

interface UnitsRequest {
  readonly target: Target
  readonly action: Pick<Action, 'type' | 'config'>
  readonly settings: Pick<JobSettings, 'stages'>
}

/** Finds what the caller sees of a target. Refuses a target without a match. */
export async function findUnits(on: OrgReader, request: UnitsRequest, now: number): Promise<FoundUnits> {
  const matching = await listAllTargeted(on, request.target)
  if (matching.length === 0) {
    throw invalid([{ field: 'target', error: 'matches no endpoint. Look at its ids, models and tags' }])
  }
  const endpoints = matching.filter((endpoint) => isAble(request.action, endpoint))
  if (endpoints.length === 0) {
    const error = `matches only endpoints whose devices cannot do ${request.action.type}. Look at their actions`
    throw invalid([{ field: 'target', error }])
  }
  return makeUnits(on, request, endpoints, now, matching.length - endpoints.length)
}

/**
 * Finds what matches since a job has started, and refuses it if the job would have too many endpoints then. Only these endpoints are grouped,
 * so that a run which finds none costs little.
 */
export async function findLaterUnits(
  on: OrgReader,
  request: UnitsRequest,
  job: Pick<JobRow, 'id' | 'endpoint_count'>,
  now: number,
): Promise<FoundUnits> {
  const choose = async (page: readonly TargetedEndpoint[]) => {
    const known = await listEndpointsInJob(on, { job: job.id, endpoints: page.map(({ id }) => id) })
    const ids = new Set(known.map(({ endpoint_id }) => endpoint_id))
    return page.filter((endpoint) => !ids.has(endpoint.id) && isAble(request.action, endpoint))
  }
  const endpoints = await listAllTargeted(on, request.target, { choose, countBefore: job.endpoint_count })
  return makeUnits(on, request, endpoints, now)
}

async function makeUnits(
  on: OrgReader,
  { action, settings }: UnitsRequest,
  endpoints: readonly TargetedEndpoint[],
  now: number,
  unableCount = 0,
): Promise<FoundUnits> {
  const pairedRooms = await findPairedRooms(on, endpoints, jobActions[action.type])
  await nextTurn()
  const drafts = groupIntoUnits(endpoints, pairedRooms)
  await nextTurn()
  const rooms = await readRooms(on, [...new Set(drafts.flatMap(({ roomIds }) => roomIds))])
  const use = await readRecentUse(on, [...rooms.keys()], now)
  const facts = new Map<number, RoomFacts>()
  for await (const part of inParts([...rooms.values()])) {
    for (const { id, name, tags } of part) {
      facts.set(id, { id, name, tags: tags === '[]' ? [] : JSON.parse(tags), use: use.get(id) ?? 0 })
    }
  }
  const units = await orderUnits(drafts, facts, settings.stages)
  return { units, rooms, endpointCount: endpoints.length, unableCount }
}

interface ListOptions {
  /** Returns the endpoints of a page that are wanted. */
  readonly choose?: (page: readonly TargetedEndpoint[]) => Promise<readonly TargetedEndpoint[]>
  /** The endpoints that the job has already. */
  readonly countBefore?: number
}

async function listAllTargeted(
  on: OrgReader,
  target: Target,
  { choose = async (page) => page, countBefore = 0 }: ListOptions = {},
): Promise<TargetedEndpoint[]> {
  const all: TargetedEndpoint[] = []
  for (let after = ''; ; ) {
    const page = await listTargeted(on, target, { after, limit: targetPageRows })
    all.push(...(await choose(page)))
    if (countBefore + all.length > maxTargetEndpoints) {
      throw invalid([
        { field: 'target', error: `matches more than ${maxTargetEndpoints} endpoints. Make several jobs of it` },
      ])
    }
    const last = page.at(-1)
    if (page.length < targetPageRows || !last) return all
    after = last.id
    await nextTurn()
  }
}

/**
 * Returns the rooms of each pair group that is in more than one. An action that also concerns members that are not targeted, such as a
 * reboot, is refused if the caller does not see all of them. [contract 11.access]
 */
async function findPairedRooms(
  on: OrgReader,
  endpoints: readonly TargetedEndpoint[],
  { concernsPairs }: JobActionRow,
): Promise<number[][]> {
  const roomsOfGroups = new Map<string, Set<number>>()
  for await (const part of inParts(endpoints)) {
    const ids = part.map(({ id }) => id)
    for (const { leader, apart, room_id } of await listPairedEndpoints(on, { ids })) {
      const key = `${leader}/${apart}`
      const rooms = roomsOfGroups.get(key) ?? new Set()
      roomsOfGroups.set(key, rooms)
      if (room_id !== null) rooms.add(room_id)
    }
  }
  const pairedRooms = [...roomsOfGroups.values()].filter(({ size }) => size > 1).map((rooms) => [...rooms])
  if (on.access.isEverything) return pairedRooms
  const regions = await readRooms(on, [...new Set(pairedRooms.flat())])
  const isVisible = (room: number) => on.access.sees(regions.get(room)?.region_id)
  if (concernsPairs && !pairedRooms.flat().every(isVisible)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'endpoints that are paired with the targeted ones are outside the regions that you see, so nothing was done. Ask a person who sees all of these regions.',
    )
  }
  return pairedRooms.map((rooms) => rooms.filter(isVisible))
}

async function readRooms(on: OrgReader, ids: readonly number[]): Promise<Map<number, RoomWithWindow>> {
  const rooms = new Map<number, RoomWithWindow>()
  for await (const part of inParts(ids)) {
    for (const room of await listRoomsWithWindows(on, { ids: part })) rooms.set(room.id, room)
  }
  return rooms
}

/**
 * All devices of the rooms count, also those that are not targeted: most devices do not count people. Several devices of a room count the
 * same people, so that the one that counted most decides.
 */
async function readRecentUse(on: OrgReader, rooms: readonly number[], now: number): Promise<Map<number, number>> {
  const use = new Map<number, number>()
  const firstDay = Math.floor(now / 1000 / daySeconds) - useDays
  for await (const part of inParts(rooms)) {
    const numbers = await listNumbersInRooms(on, { rooms: part, from: firstDay * daySeconds })
    const rows = await listRoomUse(on, { endpoints: numbers.map(({ endpoint }) => endpoint), firstDay })
    for (const { room, people } of rows) use.set(room, Math.max(use.get(room) ?? 0, Number(people)))
  }
  return use
}
