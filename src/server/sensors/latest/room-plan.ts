// Caches which rooms and endpoints an organisation has, and where they are, until a statement changes that.
import type { Database } from '../../db/db.ts'
import type { WrittenRows } from '../../db/written-rows.ts'
import { cacheUnlessFailed, pageRows, readPages } from './load.ts'
import { listEndpointNumbersAfter, listRoomsAfter } from './store.ts'

export interface PlannedRoom {
  readonly id: number
  readonly location: number | null
  readonly region: number | null
  /** The numbers of its endpoints. */
  readonly endpoints: readonly number[]
  /** The numbers of endpoints whose `people` is presence, not a count. */
  readonly presenceOnly: readonly number[]
}
export interface PlannedEndpoint {
  readonly id: string
  readonly number: number
  readonly room: PlannedRoom | undefined
}
/** The rooms and endpoints of an organisation with their places, both in the order of their ids. */
export interface RoomPlan {
  readonly rooms: readonly PlannedRoom[]
  readonly endpoints: readonly PlannedEndpoint[]
}

/** Tables that a plan is read from, each with the columns of a plan that updates change: ids and numbers are final. */
const planColumns = {
  endpoints: ['room_id', 'presence_only'],
  rooms: ['location_id'],
  locations: ['region_id'],
} as const

export class RoomPlanCache {
  readonly #db: Database
  readonly #plans = new Map<number, Promise<RoomPlan>>()

  constructor(db: Database) {
    this.#db = db
    for (const table of Object.keys(planColumns) as (keyof typeof planColumns)[]) {
      db.onWrite(table, (written) => this.#invalidate(written, planColumns[table]))
    }
  }

  /**
   * A plan is in the map from the start of its loading. A write removes it from there, loaded or not, so a plan that was read
   * before a write answers only requests that came before the end of that write.
   */
  plan(org: number): Promise<RoomPlan> {
    let plan = this.#plans.get(org)
    if (!plan) {
      plan = this.#load(org)
      cacheUnlessFailed(this.#plans, org, plan, plan)
    }
    return plan
  }

  clear(): void {
    this.#plans.clear()
  }

  /** Devices connect and report their status all the time. Such an update sets other columns, and the plan stays. */
  #invalidate({ org, columns }: WrittenRows, shown: readonly string[]): void {
    if (columns && !shown.some((column) => columns.has(column))) return
    if (org === undefined) this.#plans.clear()
    else this.#plans.delete(org)
  }

  async #load(org: number): Promise<RoomPlan> {
    const rooms = new Map<number, PlannedRoom & { endpoints: number[]; presenceOnly: number[] }>()
    const pageOfRooms = (after: number) => listRoomsAfter(this.#db.forOrg(org), { after, limit: pageRows })
    for await (const rows of readPages(pageOfRooms, 0, (row) => row.id)) {
      for (const { id, location_id, region_id } of rows) {
        rooms.set(id, { id, location: location_id, region: region_id, endpoints: [], presenceOnly: [] })
      }
    }
    const endpoints: PlannedEndpoint[] = []
    const pageOfEndpoints = (after: string) =>
      listEndpointNumbersAfter(this.#db.forOrg(org), { after, limit: pageRows })
    for await (const rows of readPages(pageOfEndpoints, '', (row) => row.id)) {
      for (const { id, number, room_id, presence_only } of rows) {
        const room = room_id === null ? undefined : rooms.get(room_id)
        room?.endpoints.push(number)
        if (presence_only === 1) room?.presenceOnly.push(number)
        endpoints.push({ id, number, room })
      }
    }
    return { rooms: [...rooms.values()], endpoints }
  }
}
