// Creates the regions, locations and rooms of a plan through the public API, or finds those of an earlier run.
import type { Client } from '../client/client.ts'
import { forEachConcurrently } from './concurrency.ts'
import type { FleetState } from './fleet-state.ts'
import type { FleetPlan } from './plan.ts'

export interface StructureProgress {
  regions: number
  locations: number
  rooms: number
}

/** Returns the ids of the rooms, in the order of the plan. Rooms that were renamed or moved since then are kept as they are. */
export async function buildStructure(
  client: Client,
  plan: FleetPlan,
  state: FleetState,
  progress: StructureProgress,
  signal: AbortSignal,
): Promise<number[]> {
  const { content } = state
  const [{ body: regionList }, { body: locationList }, { body: roomList }] = await Promise.all([
    client.regionsList({}, { signal }),
    client.locationsList({}, { signal }),
    client.roomsList({}, { signal }),
  ])
  /** Takes the resource from an earlier run, finds it by name, or creates it. */
  const findOrCreate = async (
    known: Record<string, number>,
    key: string,
    existing: ReadonlySet<number>,
    found: { id: number } | undefined,
    create: () => Promise<{ body: { id: number } }>,
  ): Promise<number> => {
    const before = known[key]
    if (before !== undefined && existing.has(before)) return before
    const id = found?.id ?? (await create()).body.id
    known[key] = id
    state.markChanged()
    return id
  }
  const idsOf = (things: readonly { id: number }[]) => new Set(things.map(({ id }) => id))

  const regionIds: number[] = []
  for (const name of plan.regions) {
    const found = regionList.regions.find((region) => region.name === name)
    const create = () => client.regionsCreate({ body: { name } }, { signal })
    regionIds.push(await findOrCreate(content.regions, name, idsOf(regionList.regions), found, create))
    progress.regions++
  }
  const locationIds: number[] = []
  for (const { name, region, timezone } of plan.locations) {
    const regionId = regionIds[region] as number
    const found = locationList.locations.find((place) => place.name === name && place.region?.id === regionId)
    const create = () => client.locationsCreate({ body: { name, regionId, timezone } }, { signal })
    const key = `${plan.regions[region]}/${name}`
    locationIds.push(await findOrCreate(content.locations, key, idsOf(locationList.locations), found, create))
    progress.locations++
  }
  const roomIds: number[] = []
  const existing = idsOf(roomList.rooms)
  const nameOf = (locationId: number | undefined, name: string) => `${locationId}/${name}`
  const byName = new Map(roomList.rooms.map((room) => [nameOf(room.location?.id, room.name), room]))
  await forEachConcurrently(plan.rooms.entries(), 8, signal, async ([n, { name, location, seats }]) => {
    const { name: place, region } = plan.locations[location] as FleetPlan['locations'][number]
    const locationId = locationIds[location] as number
    const found = byName.get(nameOf(locationId, name))
    const create = () => client.roomsCreate({ body: { name, locationId, capacity: seats } }, { signal })
    const key = `${plan.regions[region]}/${place}/${name}`
    roomIds[n] = await findOrCreate(content.rooms, key, existing, found, create)
    progress.rooms++
  })
  return roomIds
}
