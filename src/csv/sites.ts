// The sites and rooms that an organisation has now, as flat lists.
import type { LocationEntry, OrganisationDocument, RoomEntry } from '../plan/document.ts'

/** The place of a room. The location has an id if it exists. */
export interface RoomSite {
  readonly region: string | undefined
  readonly location: Pick<LocationEntry, 'id' | 'name' | 'timezone'> | undefined
}

interface LocationSite extends RoomSite {
  readonly location: Pick<LocationEntry, 'id' | 'name' | 'timezone'>
}

export interface CurrentSites {
  readonly locations: readonly LocationSite[]
  readonly rooms: readonly { readonly room: RoomEntry; readonly site: RoomSite }[]
}

/** In the order of the document: by the names of region, location and room. */
export function currentSites({ regions = [], locations = [], rooms = [] }: OrganisationDocument): CurrentSites {
  const placed = [
    ...regions.flatMap((region) =>
      (region.locations ?? []).map((location) => ({ region: region.name, location, rooms: location.rooms ?? [] })),
    ),
    ...locations.map((location) => ({ region: undefined, location, rooms: location.rooms ?? [] })),
  ]
  return {
    locations: placed.map(({ region, location }) => ({ region, location })),
    rooms: [
      ...placed.flatMap(({ region, location, rooms: inside }) =>
        inside.map((room) => ({ room, site: { region, location } })),
      ),
      ...rooms.map((room) => ({ room, site: { region: undefined, location: undefined } })),
    ],
  }
}
