// Rooms as CSV: the columns, and what the rows ask for as a document of the organisation.
import { maxContactLength, maxExternalIdLength } from '../contract/fleet/custom-fields.ts'
import { maxCapacity, maxFloorLength, minCapacity } from '../contract/fleet/rooms.ts'
import { groupBy } from '../contract/group-by.ts'
import { maxNameLength } from '../contract/shape.ts'
import type { LocationEntry, OrganisationDocument, RegionEntry, RoomEntry } from '../plan/document.ts'
import { Columns, type Line, placeOf, type Sheet } from './columns.ts'
import type { CsvImport } from './csv-import.ts'
import type { Mistake } from './mistakes.ts'
import { type CurrentSites, currentSites, type RoomSite } from './sites.ts'
import { CellReader, definedOnly, shown } from './values.ts'

/**
 * The columns of rooms. Three public tools for the interface that this service shares write and read such files: "Pulse Create Rooms" has
 * `locationId,name` and adds `DEC`; a script that makes sites has `Region,Location`; one that makes codes has
 * `room_name,room_id,device_enrollment_code,status`.
 */
export const roomCsvColumns = {
  region: ['region_name'],
  location: ['location_name'],
  room: ['name', 'room_name'],
  capacity: ['seats'],
  tags: ['tag'],
  profile: ['profile_name'],
  timezone: ['time_zone'],
  floor: [],
  contact: [],
  external_id: ['externalid'],
  location_id: ['locationid'],
  organisation: ['organization'],
  room_id: ['roomid'],
  enrolment_code: ['dec', 'enrollment_code', 'device_enrollment_code'],
  enrolment_url: ['enrollment_url'],
  result: ['status'],
} as const
export type RoomCsvColumn = keyof typeof roomCsvColumns

export const roomSheetColumns = new Columns<RoomCsvColumn>(roomCsvColumns, {
  hasFields: true,
  required: [['room', 'location', 'region', 'external_id']],
})

/** `current` is what the organisation has now: names lead to what is there, and a row without a location stays where its room is. */
export function readRooms(sheet: Sheet<RoomCsvColumn>, current: OrganisationDocument): CsvImport {
  const builder = new DocumentBuilder(current)
  for (const line of sheet.lines) builder.add(line)
  return { ...builder.finish(), placeOfValue: (pointer, key) => placeOf(sheet, columnOfValue(pointer, key)) }
}

function columnOfValue(entryPointer: string, key: string): RoomCsvColumn | undefined {
  const [list] = entryPointer.split('/').slice(-2)
  const columns = list === undefined ? undefined : valueColumns[list]
  return columns?.[key]
}
const valueColumns: Readonly<Record<string, Readonly<Record<string, RoomCsvColumn>>>> = {
  regions: { name: 'region' },
  locations: { name: 'location', id: 'location_id' },
  rooms: { name: 'room', id: 'room_id', externalId: 'external_id', profile: 'profile' },
}

type Reader = CellReader<RoomCsvColumn>

class DocumentBuilder {
  readonly #current: OrganisationDocument
  readonly #locationsById: ReadonlyMap<number | undefined, CurrentSites['locations'][number]>
  readonly #locationsByName: ReadonlyMap<string, CurrentSites['locations']>
  readonly #roomsById: ReadonlyMap<number | undefined, Found>
  readonly #roomsByExternalId: ReadonlyMap<string | null | undefined, Found>
  readonly #roomsByName: ReadonlyMap<string, readonly Found[]>
  readonly #regions = new Map<string, RegionEntry>()
  readonly #locations = new Map<string, LocationEntry & { rooms: RoomEntry[] }>()
  /** The row that first gave a location its time zone. */
  readonly #timezoneRows = new Map<object, number>()
  readonly #roomRows = new Map<string, number>()
  readonly #rooms: RoomEntry[] = []
  readonly #topLocations: LocationEntry[] = []
  /** The rows that name each entry, and the entry that is the most specific one of each row. */
  readonly #firstRows = new Map<object, number>()
  readonly #rows: { readonly number: number; readonly entry: object; readonly names: readonly string[] }[] = []
  readonly #mistakes: Mistake[] = []

  constructor(current: OrganisationDocument) {
    this.#current = current
    const { locations, rooms } = currentSites(current)
    this.#locationsById = new Map(locations.map((site) => [site.location.id, site]))
    this.#locationsByName = groupBy(locations, ({ location }) => location.name)
    this.#roomsById = new Map(rooms.map((found) => [found.room.id, found]))
    this.#roomsByExternalId = new Map(rooms.map((found) => [found.room.externalId, found]))
    this.#roomsByName = groupBy(rooms, ({ room }) => room.name)
  }

  add(line: Line<RoomCsvColumn>): void {
    const reader = new CellReader(line)
    const name = reader.text('room', maxNameLength)
    const values = roomValues(reader)
    const profile = this.#profile(reader)
    const timezone = reader.timezone('timezone')
    const id = this.#roomId(reader)
    const existing = this.#existingRoom(reader, { id, externalId: values.externalId, name })
    const site = this.#site(reader, existing)
    if (site && !name && existing === undefined && hasRoomValues(values, profile)) {
      reader.wrong('room', 'The row has values of a room, and no name. Write the name of the room.')
    }
    if (site && name && site.region !== undefined && site.location === undefined) {
      reader.wrong('location', 'A room is in a region through its location. Write the location.')
    }
    if (!site) {
      this.#mistakes.push(...reader.mistakes)
      return
    }
    const entry: RoomEntry | undefined =
      name || existing
        ? {
            ...(id !== undefined && { id }),
            name: name ?? existing?.room.name ?? '',
            ...definedOnly(values),
            ...(profile !== undefined && { profile }),
          }
        : undefined
    const before = entry && this.#repeatedRow(line, entry, site)
    if (before !== undefined) reader.wrong('room', `Row ${before} has the same room. Remove one of the two.`)
    if (reader.mistakes.length > 0) {
      this.#mistakes.push(...reader.mistakes)
      return
    }
    this.#place(line, site, entry, timezone)
  }

  finish(): Omit<CsvImport, 'placeOfValue'> {
    const [regions, locations, rooms] = [[...this.#regions.values()], this.#topLocations, this.#rooms]
    const pointers = new Map<object, string>([
      ...regions.flatMap((region, index) => pointersIn(region, `/regions/${index}`)),
      ...locations.flatMap((location, index) => pointersIn(location, `/locations/${index}`)),
      ...rooms.map((room, index) => [room, `/rooms/${index}`] as const),
    ])
    return {
      document: {
        organisation: this.#current.organisation,
        ...(regions.length > 0 && { regions }),
        ...(locations.length > 0 && { locations }),
        ...(rooms.length > 0 && { rooms }),
      },
      rows: this.#rows.map(({ number, entry, names }) => ({ number, names, pointer: pointers.get(entry) ?? '' })),
      mistakes: this.#mistakes,
      rowOfPointer: new Map(
        [...pointers].flatMap(([entry, pointer]) => {
          const row = this.#firstRows.get(entry)
          return row === undefined ? [] : [[pointer, row]]
        }),
      ),
    }
  }

  /** Every organisation has a room 1, so an id counts only beside the organisation that it belongs to. */
  #roomId(reader: Reader): number | undefined {
    const id = reader.integer('room_id', 1, maxId) ?? undefined
    return reader.line.cell('organisation') === this.#current.organisation ? id : undefined
  }

  #profile(reader: Reader): { id: number } | null | undefined {
    const name = reader.text('profile', maxNameLength)
    if (name === undefined || name === null) return name
    const found = (this.#current.profiles ?? []).filter((profile) => profile.name === name)
    const [profile] = found
    if (profile?.id === undefined)
      return reader.wrong('profile', `There is no profile ${shown(name)}. Create it first.`)
    if (found.length === 1) return { id: profile.id }
    return reader.wrong('profile', `${found.length} profiles have the name ${shown(name)}. Rename all but one.`)
  }

  /** The room that a row means without naming its location. */
  #existingRoom(reader: Reader, named: Named): Found | undefined {
    if (named.id !== undefined) return this.#roomsById.get(named.id)
    if (named.externalId) return this.#roomsByExternalId.get(named.externalId)
    if (!named.name || hasPlace(reader)) return undefined
    const found = this.#roomsByName.get(named.name) ?? []
    if (found.length <= 1) return found[0]
    const ids = found.map(({ room }) => room.id).join(', ')
    return reader.wrong('room', `${found.length} rooms have this name (${ids}). Add the columns region and location.`)
  }

  #site(reader: Reader, existing: Found | undefined): RoomSite | undefined {
    const locationId = reader.integer('location_id', 1, maxId)
    const region = reader.text('region', maxNameLength)
    const location = reader.text('location', maxNameLength)
    if (reader.isWrong('location_id', 'region', 'location')) return undefined
    if (locationId) return this.#siteOfId(reader, locationId, { region, location })
    if (location === undefined && existing && !region) return existing.site
    if (!location) return { region: region || undefined, location: undefined }
    const found = (this.#locationsByName.get(location) ?? []).filter(
      (site) => region === undefined || site.region === (region ?? undefined),
    )
    if (region !== undefined) {
      const [site] = found.length === 1 ? found : []
      return site ?? { region: region ?? undefined, location: { name: location } }
    }
    if (found.length > 1) {
      const ids = found.map((site) => site.location.id).join(', ')
      return reader.wrong('location', `${found.length} locations have this name (${ids}). Add the column region.`)
    }
    return found[0] ?? { region: undefined, location: { name: location } }
  }

  #siteOfId(reader: Reader, id: number, { region, location }: SiteNames): RoomSite | undefined {
    const site = this.#locationsById.get(id)
    if (!site) return reader.wrong('location_id', `There is no location ${id}. Write the id of a location that exists.`)
    if (location && location !== site.location.name) {
      return reader.wrong(
        'location',
        `Location ${id} has the name ${shown(site.location.name)}. Remove one of the two.`,
      )
    }
    if (region && region !== site.region) {
      return reader.wrong(
        'region',
        `Location ${id} is in ${site.region === undefined ? 'no region' : `the region ${shown(site.region)}`}. Correct the cell, or empty it.`,
      )
    }
    return site
  }

  /** Two rows for one room would undo each other. Two rooms can have one path if each row has an id or an external id. */
  #repeatedRow(line: Line<RoomCsvColumn>, entry: RoomEntry, { region, location }: RoomSite): number | undefined {
    const path = JSON.stringify([region, location?.id ?? location?.name, entry.name])
    const ids = [
      ...(entry.id === undefined ? [] : [`id ${entry.id}`]),
      ...(entry.externalId ? [`external ${entry.externalId}`] : []),
    ]
    const taken = [...ids, `path only ${path}`, ...(ids.length === 0 ? [`path ${path}`] : [])]
    const before = taken.map((key) => this.#roomRows.get(key)).find((row) => row !== undefined)
    if (before !== undefined) return before
    for (const key of [...ids, `path ${path}`, ...(ids.length === 0 ? [`path only ${path}`] : [])])
      this.#roomRows.set(key, line.number)
    return undefined
  }

  #place(
    line: Line<RoomCsvColumn>,
    site: RoomSite,
    room: RoomEntry | undefined,
    timezone: string | null | undefined,
  ): void {
    const region = site.region === undefined ? undefined : this.#region(site.region, line.number)
    const location = site.location && this.#location(site, region, line.number)
    if (location && timezone !== undefined && !this.#setTimezone(location, timezone, line)) return
    if (room) {
      this.#firstRows.set(room, line.number)
      ;(location?.rooms ?? this.#rooms).push(room)
    }
    const entry = room ?? location ?? region
    if (!entry) return
    const names = [site.region, site.location?.name, room?.name].flatMap((name) => name ?? [])
    this.#rows.push({ number: line.number, entry, names })
  }

  #region(name: string, row: number): RegionEntry {
    const known = this.#regions.get(name)
    if (known) return known
    const region: RegionEntry = { name, locations: [] }
    this.#regions.set(name, region)
    this.#firstRows.set(region, row)
    return region
  }

  #location({ location: named, region: regionName }: RoomSite, region: RegionEntry | undefined, row: number) {
    const { id, name = '' } = named ?? {}
    const key = JSON.stringify([regionName, id ?? name])
    const known = this.#locations.get(key)
    if (known) return known
    const location = { ...(id !== undefined && { id }), name, rooms: [] }
    this.#locations.set(key, location)
    this.#firstRows.set(location, row)
    ;(region?.locations ?? this.#topLocations).push(location)
    return location
  }

  /** An empty cell beside a row that has the zone of the same location means the same; all empty clear it. */
  #setTimezone(location: LocationEntry, timezone: string | null, line: Line<RoomCsvColumn>): boolean {
    const before = location.timezone
    if (timezone !== null && before && before !== timezone) {
      const row = this.#timezoneRows.get(location)
      const reason = `Row ${row} has ${before} for the same location. Write the same time zone in both.`
      this.#mistakes.push(line.mistake('timezone', reason))
      return false
    }
    if (timezone !== null && !before) this.#timezoneRows.set(location, line.number)
    location.timezone = timezone ?? before ?? null
    return true
  }
}

const pointersIn = (place: RegionEntry | LocationEntry, pointer: string): (readonly [object, string])[] => [
  [place, pointer],
  ...('locations' in place ? (place.locations ?? []) : []).flatMap((location, index) =>
    pointersIn(location, `${pointer}/locations/${index}`),
  ),
  ...('rooms' in place ? (place.rooms ?? []) : []).map((room, index) => [room, `${pointer}/rooms/${index}`] as const),
]

const maxId = 2 ** 31 - 1

interface Named {
  readonly id: number | undefined
  readonly externalId: string | null | undefined
  readonly name: string | null | undefined
}
type Found = CurrentSites['rooms'][number]
interface SiteNames {
  readonly region: string | null | undefined
  readonly location: string | null | undefined
}

const hasPlace = ({ line }: Reader) =>
  line.cell('location') !== undefined || line.cell('region') !== undefined || !!line.cell('location_id')

const roomValues = (reader: Reader) => ({
  externalId: reader.text('external_id', maxExternalIdLength),
  capacity: reader.integer('capacity', minCapacity, maxCapacity),
  tags: reader.tags('tags'),
  floor: reader.text('floor', maxFloorLength),
  contact: reader.text('contact', maxContactLength),
  fields: reader.customFields(),
})

const hasRoomValues = ({ fields, ...values }: ReturnType<typeof roomValues>, profile: unknown) =>
  [...Object.values(values), ...Object.values(fields ?? {}), profile].some(
    (value) => value !== undefined && value !== null,
  )
