// Makes the regions, locations and rooms of a plan through the public API, or finds those of an earlier run.
import type { Client } from '../client/client.ts'
import { inParallel } from './parallel.ts'
import type { Plan } from './plan.ts'
import type { State } from './state.ts'

export interface Built {
  regions: number
  locations: number
  rooms: number
}

/** The ids of the rooms, in the order of the plan. Whoever renamed or moved one keeps it so. */
export async function buildStructure(
  client: Client,
  plan: Plan,
  state: State,
  built: Built,
  signal: AbortSignal,
): Promise<number[]> {
  const { content } = state
  const [{ body: there }, { body: places }, { body: spaces }] = await Promise.all([
    client.regionsList({}, { signal }),
    client.locationsList({}, { signal }),
    client.roomsList({}, { signal }),
  ])
  /** Known from an earlier run, or found by its name, or new. */
  const settle = async (
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
    state.changed()
    return id
  }
  const idsOf = (things: readonly { id: number }[]) => new Set(things.map(({ id }) => id))

  const regionIds: number[] = []
  for (const name of plan.regions) {
    const found = there.regions.find((region) => region.name === name)
    const create = () => client.regionsCreate({ body: { name } }, { signal })
    regionIds.push(await settle(content.regions, name, idsOf(there.regions), found, create))
    built.regions++
  }
  const locationIds: number[] = []
  for (const { name, region } of plan.locations) {
    const regionId = regionIds[region] as number
    const found = places.locations.find((place) => place.name === name && place.region?.id === regionId)
    const create = () => client.locationsCreate({ body: { name, regionId } }, { signal })
    const key = `${plan.regions[region]}/${name}`
    locationIds.push(await settle(content.locations, key, idsOf(places.locations), found, create))
    built.locations++
  }
  const roomIds: number[] = []
  const existing = idsOf(spaces.rooms)
  const nameOf = (locationId: number | undefined, name: string) => `${locationId}/${name}`
  const byName = new Map(spaces.rooms.map((room) => [nameOf(room.location?.id, room.name), room]))
  await inParallel(plan.rooms.entries(), 8, signal, async ([n, { name, location }]) => {
    const { name: place, region } = plan.locations[location] as Plan['locations'][number]
    const locationId = locationIds[location] as number
    const found = byName.get(nameOf(locationId, name))
    const create = () => client.roomsCreate({ body: { name, locationId } }, { signal })
    const key = `${plan.regions[region]}/${place}/${name}`
    roomIds[n] = await settle(content.rooms, key, existing, found, create)
    built.rooms++
  })
  return roomIds
}
