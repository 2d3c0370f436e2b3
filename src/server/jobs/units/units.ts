// Makes units of the targeted endpoints: which rooms belong together, in which order they begin, and in which stage. [contract 12.job]

import { setImmediate as nextTurn } from 'node:timers/promises'
import { inParts } from '../../db/queries/in-parts.ts'
import type { StageSettings } from '../rows.ts'

interface EndpointWithRoom {
  readonly id: string
  /** Null for an endpoint without a room, which is a unit by itself. */
  readonly roomId: number | null
}

export interface RoomFacts {
  readonly id: number
  readonly name: string
  readonly tags: readonly string[]
  /** The people counted in the room, as daily means added up over the last 14 days. */
  readonly use: number
}

interface UnitDraft<E extends EndpointWithRoom> {
  readonly roomIds: readonly number[]
  readonly endpoints: readonly E[]
}

/** Each list of `pairedRooms` has the rooms of one pair group: they become one unit. */
export function groupIntoUnits<E extends EndpointWithRoom>(
  endpoints: readonly E[],
  pairedRooms: Iterable<readonly number[]>,
): UnitDraft<E>[] {
  const parents = new Map<number, number>()
  const rootOf = (room: number): number => {
    let root = room
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next
    // The path is shortened, so that long chains of rooms stay cheap.
    for (let at = room; at !== root; ) {
      const next = parents.get(at) ?? root
      parents.set(at, root)
      at = next
    }
    return root
  }
  const rooms = new Set(endpoints.flatMap(({ roomId }) => (roomId === null ? [] : [roomId])))
  for (const together of pairedRooms) {
    for (const room of together) rooms.add(room)
    const [first, ...others] = together
    if (first === undefined) continue
    for (const room of others) {
      const [a, b] = [rootOf(first), rootOf(room)]
      if (a !== b) parents.set(Math.max(a, b), Math.min(a, b))
    }
  }
  const roomsByRoot = Map.groupBy(
    [...rooms].sort((a, b) => a - b),
    rootOf,
  )
  const placed = endpoints.filter(({ roomId }) => roomId !== null)
  const byRoot = Map.groupBy(placed, ({ roomId }) => rootOf(roomId as number))
  return [
    ...[...byRoot].map(([root, members]) => ({ roomIds: roomsByRoot.get(root) ?? [], endpoints: members })),
    ...endpoints.filter(({ roomId }) => roomId === null).map((endpoint) => ({ roomIds: [], endpoints: [endpoint] })),
  ]
}

const canaryTag = 'canary'

export interface OrderedUnit<E extends EndpointWithRoom> extends UnitDraft<E> {
  /** The position of the unit, from 1, in the order in which units begin. */
  readonly number: number
  /** The number of the stage, from 1. */
  readonly stage: number
  readonly tags: readonly string[]
}

/** Sorts units: those tagged canary, then the least used, then by id; and gives each its stage. Others have turns between the parts of this. */
export async function orderUnits<E extends EndpointWithRoom>(
  units: readonly UnitDraft<E>[],
  rooms: ReadonlyMap<number, RoomFacts>,
  stages: readonly StageSettings[],
): Promise<OrderedUnit<E>[]> {
  const sorted: SortedUnit<E>[] = []
  for await (const part of inParts(units)) {
    for (const unit of part) sorted.push(sortedUnitOf(unit, rooms))
  }
  sorted.sort(
    (a, b) =>
      Number(b.isCanary) - Number(a.isCanary) ||
      a.use - b.use ||
      a.firstRoom - b.firstRoom ||
      compareText(a.unit.endpoints[0]?.id ?? '', b.unit.endpoints[0]?.id ?? ''),
  )
  await nextTurn()
  const stageOf = assignStages(sorted, stages)
  await nextTurn()
  const byStage = Map.groupBy(sorted.keys(), (at) => stageOf[at] as number)
  const ordered: OrderedUnit<E>[] = []
  for (const stage of [...byStage.keys()].sort((a, b) => a - b)) {
    for await (const part of inParts(byStage.get(stage) ?? [])) {
      for (const at of part) {
        const { unit, tags } = sorted[at] as SortedUnit<E>
        ordered.push({ ...unit, tags, stage, number: ordered.length + 1 })
      }
    }
  }
  return ordered
}

interface SortedUnit<E extends EndpointWithRoom> {
  readonly unit: UnitDraft<E>
  readonly tags: readonly string[]
  readonly use: number
  readonly isCanary: boolean
  readonly firstRoom: number
}

function sortedUnitOf<E extends EndpointWithRoom>(
  unit: UnitDraft<E>,
  rooms: ReadonlyMap<number, RoomFacts>,
): SortedUnit<E> {
  const facts = unit.roomIds.flatMap((id) => rooms.get(id) ?? [])
  const tags = [...new Set(facts.flatMap((room) => room.tags))]
  const use = facts.reduce((sum, room) => sum + room.use, 0)
  const firstRoom = unit.roomIds[0] ?? Number.MAX_SAFE_INTEGER
  return { unit, tags, use, isCanary: tags.includes(canaryTag), firstRoom }
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** How many units a stage has together with those before it, or undefined if its tags decide. */
export function cumulativeCount({ rooms, percent }: StageSettings, unitCount: number): number | undefined {
  if (rooms !== undefined) return Math.min(rooms, unitCount)
  return percent === undefined ? undefined : Math.ceil((unitCount * percent) / 100)
}

function assignStages(units: readonly { readonly tags: readonly string[] }[], stages: readonly StageSettings[]) {
  const stageOf: number[] = new Array(units.length).fill(0)
  let assigned = 0
  let next = 0
  for (const [i, stage] of stages.entries()) {
    const { tags } = stage
    if (tags) {
      for (const [at, unit] of units.entries()) {
        if (stageOf[at] !== 0 || !unit.tags.some((tag) => tags.includes(tag))) continue
        stageOf[at] = i + 1
        assigned++
      }
      continue
    }
    const wanted = cumulativeCount(stage, units.length) ?? 0
    for (; assigned < wanted && next < units.length; next++) {
      if (stageOf[next] !== 0) continue
      stageOf[next] = i + 1
      assigned++
    }
  }
  return stageOf
}
