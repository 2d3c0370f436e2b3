// Writes the rooms of an organisation as CSV, which can be imported again.
import { importableRow } from '../contract/csv.ts'
import { ownProperty } from '../contract/own-property.ts'
import type { OrganisationDocument, ProfileEntry, Reference, RoomEntry } from '../plan/document.ts'
import type { RoomCsvColumn } from './rooms.ts'
import { currentSites, type RoomSite } from './sites.ts'

/** One row for each room, and one for each location and region without any. */
export function roomsCsv(document: OrganisationDocument): string {
  const { rooms, locations } = currentSites(document)
  const placed = new Set(rooms.map(({ site }) => site.location))
  const named = new Set(locations.map(({ region }) => region))
  const lines: readonly { readonly site: RoomSite; readonly room?: RoomEntry }[] = [
    ...(document.regions ?? [])
      .filter(({ name }) => !named.has(name))
      .map(({ name }) => ({ site: { region: name, location: undefined } })),
    ...locations.filter(({ location }) => !placed.has(location)).map((site) => ({ site })),
    ...rooms,
  ]
  const fields = [...new Set(rooms.flatMap(({ room }) => Object.keys(room.fields ?? {})))].toSorted()
  const header = [...columns, ...fields.map((name) => `field.${name}`), ...idColumns]
  return [
    header,
    ...lines.map(({ site, room }) => [
      site.region ?? '',
      site.location?.name ?? '',
      room?.name ?? '',
      String(room?.capacity ?? ''),
      room?.tags?.join(' ') ?? '',
      profileName(room?.profile, document.profiles ?? []),
      site.location?.timezone ?? '',
      room?.floor ?? '',
      room?.contact ?? '',
      room?.externalId ?? '',
      ...fields.map((name) => ownProperty(room?.fields, name) ?? ''),
      document.organisation,
      String(room?.id ?? ''),
    ]),
  ]
    .map((cells) => importableRow(cells, ','))
    .join('')
}

const columns = [
  ...(['region', 'location', 'room', 'capacity', 'tags', 'profile', 'timezone', 'floor', 'contact'] as const),
  'external_id',
] as const satisfies readonly RoomCsvColumn[]
const idColumns = ['organisation', 'room_id'] as const satisfies readonly RoomCsvColumn[]

/** A profile that is not named by its own name has a name that others have too. */
function profileName(profile: Reference | null | undefined, profiles: readonly ProfileEntry[]): string {
  if (typeof profile === 'string') return profile
  const found = profiles.find(
    ({ id, externalId }) =>
      profile &&
      (('id' in profile && profile.id === id) || ('externalId' in profile && profile.externalId === externalId)),
  )
  return found?.name ?? ''
}
