// Regions: one function for each operation. [interface 15] [interface 16] [interface 17]

import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { Failure, found } from '../../core/failure.ts'
import type { Reader } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import { change, ref } from '../audit/change.ts'
import { touchLocationsOfRegion } from '../locations/store.ts'
import { touchRoomsOfRegion } from '../rooms/store.ts'
import { freeUsersOfRegion } from '../users/store.ts'
import {
  deleteRegion,
  findRegion,
  hasLocation,
  insertRegion,
  listAssignedLocations,
  listLocationsOf,
  listRegions,
  updateRegion,
} from './store.ts'

export async function regionsList(by: By) {
  const { db } = by.ground
  const regions = await listRegions(db, by.org.key)
  const locations = Map.groupBy(await listAssignedLocations(db, by.org.key), (l) => l.region_id)
  return {
    regions: regions.map(({ id, name }) => ({
      id,
      name,
      locations: (locations.get(id) ?? []).map((l) => ({ id: l.id, name: l.name })),
    })),
  }
}

export const regionsCreate = (by: By, name: string) =>
  change(by, 'regionsCreate', async (tx) => {
    const id = await nextId(tx, by.org.key, 'region')
    await insertRegion(tx, by.org.key, id, name)
    return {
      result: new Versioned(1, { id, name, locations: [] }),
      target: ref('region', { id, name }),
      after: { name },
    }
  })

export const regionsUpdate = (by: By, id: number, name: string) =>
  change(by, 'regionsUpdate', async (tx) => {
    const region = await existing(tx, by, id)
    checkIfMatch(by, region.version)
    await updateRegion(tx, by.org.key, id, name)
    await touchLocationsOfRegion(tx, by.org.key, id)
    await touchRoomsOfRegion(tx, by.org.key, id)
    const locations = await listLocationsOf(tx, by.org.key, id)
    return {
      result: new Versioned(region.version + 1, { id, name, locations }),
      target: ref('region', { id, name }),
      before: { name: region.name },
      after: { name },
    }
  })

export const regionsDelete = (by: By, id: number) =>
  change(by, 'regionsDelete', async (tx) => {
    const region = await existing(tx, by, id)
    checkIfMatch(by, region.version)
    if (await hasLocation(tx, by.org.key, id)) {
      throw new Failure('FAILED_PRECONDITION', `region ${id} still has locations. Move or delete them first.`)
    }
    const users = await freeUsersOfRegion(tx, by.org.key, id)
    await deleteRegion(tx, by.org.key, id)
    return {
      result: {},
      target: ref('region', region),
      before: { name: region.name },
      affected: users.map((u) => ref('user', { id: u.id, name: u.email })),
    }
  })

const existing = async (on: Reader, by: By, id: number) => found(await findRegion(on, by.org.key, id), `region ${id}`)
