// Locations: one function for each operation. [interface 11] to [interface 14]
import type { Static } from 'typebox'
import type { Location } from '../../../contract/locations.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { found, referred } from '../../core/failure.ts'
import type { Reader } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change, ref } from '../audit/change.ts'
import { findRegion, touchRegions } from '../regions/store.ts'
import { freeRoomsOfLocation, touchRoomsOfLocation } from '../rooms/store.ts'
import { deleteLocation, findLocation, insertLocation, listLocations, updateLocation } from './store.ts'

export const locationsList = async (by: By) => ({
  locations: (await listLocations(by.ground.db, by.org.key)).map(view),
})

export const locationsCreate = (by: By, body: InputOf<'locationsCreate'>['body']) =>
  change(by, 'locationsCreate', async (tx) => {
    const region = await regionFor(tx, by, body.regionId)
    const id = await nextId(tx, by.org.key, 'location')
    const { name } = body
    await insertLocation(tx, by.org.key, id, { name, region_id: region?.id ?? null })
    await touchRegions(tx, by.org.key, [region?.id])
    return {
      result: new Versioned(1, view({ id, name, region_id: region?.id ?? null, region_name: region?.name ?? null })),
      target: ref('location', { id, name }),
      after: { name, regionId: region?.id ?? null },
    }
  })

export const locationsUpdate = (by: By, id: number, body: InputOf<'locationsUpdate'>['body']) =>
  change(by, 'locationsUpdate', async (tx) => {
    const location = await existing(tx, by, id)
    checkIfMatch(by, location.version)
    const name = body.name ?? location.name
    const region =
      body.regionId === undefined
        ? { id: location.region_id, name: location.region_name }
        : await regionFor(tx, by, body.regionId)
    const values = { name, region_id: region?.id ?? null }
    await updateLocation(tx, by.org.key, id, values)
    await touchRegions(tx, by.org.key, [location.region_id, values.region_id])
    await touchRoomsOfLocation(tx, by.org.key, id)
    return {
      result: new Versioned(location.version + 1, view({ id, ...values, region_name: region?.name ?? null })),
      target: ref('location', { id, name }),
      before: { name: location.name, regionId: location.region_id },
      after: { name, regionId: values.region_id },
    }
  })

export const locationsDelete = (by: By, id: number) =>
  change(by, 'locationsDelete', async (tx) => {
    const location = await existing(tx, by, id)
    checkIfMatch(by, location.version)
    const rooms = await freeRoomsOfLocation(tx, by.org.key, id)
    await deleteLocation(tx, by.org.key, id)
    await touchRegions(tx, by.org.key, [location.region_id])
    return {
      result: {},
      target: ref('location', location),
      before: { name: location.name, regionId: location.region_id },
      affected: rooms.map((room) => ref('room', room)),
    }
  })

const existing = async (on: Reader, by: By, id: number) =>
  found(await findLocation(on, by.org.key, id), `location ${id}`)

const regionFor = (on: Reader, by: By, id: number | null | undefined) =>
  referred('region', id, (known) => findRegion(on, by.org.key, known))

interface Viewed {
  id: number
  name: string
  region_id: number | null
  region_name: string | null
}
const view = ({ id, name, region_id, region_name }: Viewed): Static<typeof Location> => ({
  id,
  name,
  ...(region_id !== null && { region: { id: region_id, name: region_name ?? '' } }),
})
