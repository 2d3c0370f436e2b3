// Writes the regions, locations, rooms and profiles of a source as a document of the organisation: what is linked or has the same name is a thing that exists.
import type { LinkedKind, SourceStructure } from '../../contract/fleet/sources.ts'
import { maxNameLength } from '../../contract/shape.ts'
import { isEnvSecret } from '../compare.ts'
import type { LocationEntry, OrganisationDocument, ProfileEntry, RegionEntry, RoomEntry } from '../document.ts'
import { kindTable } from '../kinds.ts'
import { OrganisationIndex } from '../organisation.ts'
import type { OrganisationThing, Snapshot, Values } from '../things.ts'

/** `sameName`: it is not linked, but one thing here has its name at its place. */
export type Match = 'linked' | 'sameName' | 'new'

export interface SourceThing {
  readonly kind: LinkedKind
  readonly theirId: string
  readonly name: string
}

export interface SourceEntry extends SourceThing {
  /** The place of its entry in the document. */
  readonly pointer: string
  readonly match: Match
  readonly linkedId: number | undefined
}

export interface LeftOutThing extends SourceThing {
  /** Why it is not in the document. */
  readonly reason: string
}

export interface SourceDocument {
  readonly document: OrganisationDocument
  readonly entries: readonly SourceEntry[]
  readonly leftOut: readonly LeftOutThing[]
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
interface Node<E> {
  readonly entry: Writable<E>
  readonly thing: OrganisationThing | undefined
  /** Absent for a place here that is only in the document because something linked is in it. */
  readonly of?: Omit<SourceEntry, 'pointer'>
}
interface LocationNode extends Node<LocationEntry> {
  readonly rooms: Node<RoomEntry>[]
}
interface RegionNode extends Node<RegionEntry> {
  readonly locations: LocationNode[]
}

/** Passwords are never read from a source. */
const passwords = ['remoteAccessAdminPassword', 'settingsPassword']

export function sourceDocument(structure: SourceStructure, snapshot: Snapshot): SourceDocument {
  const organisation = new OrganisationIndex(snapshot)
  const leftOut: LeftOutThing[] = []
  const finder = new ThingFinder(organisation, structure)

  const regionNodes: RegionNode[] = []
  const outerLocations: LocationNode[] = []
  const outerRooms: Node<RoomEntry>[] = []
  const regionByThing = new Map<OrganisationThing, RegionNode>()
  const locationByThing = new Map<OrganisationThing, LocationNode>()

  const leaveOut = (thing: SourceThing, reason: string) => void leftOut.push({ ...thing, reason })
  /** Undefined if the thing is left out. */
  const nodeOf = <E extends { id?: number; name: string }>(
    thing: SourceThing & { readonly linkedId?: number },
    parent: Place,
    fields: (match: Match) => Partial<E>,
  ): Node<E> | undefined => {
    const found = finder.find(thing, parent)
    if (typeof found === 'string') {
      leaveOut(thing, found)
      return undefined
    }
    const { match, thing: here } = found
    const entry = { ...(here && { id: here.id as number }), name: thing.name, ...fields(match) } as E
    const { kind, theirId, name, linkedId } = thing
    return { entry, thing: here, of: { kind, theirId, name, match, linkedId } }
  }

  /** A thing that has no place at the source keeps its place here. */
  const presentRegion = (region: OrganisationThing): RegionNode => {
    const known = regionByThing.get(region)
    if (known) return known
    const node: RegionNode = { entry: { id: region.id as number, name: nameOf(region) }, thing: region, locations: [] }
    regionNodes.push(node)
    regionByThing.set(region, node)
    return node
  }
  const presentLocation = (location: OrganisationThing): LocationNode => {
    const known = locationByThing.get(location)
    if (known) return known
    const entry = { id: location.id as number, name: nameOf(location) }
    const node: LocationNode = { entry, thing: location, rooms: [] }
    const region = organisation.parentOf(location)
    ;(region ? presentRegion(region).locations : outerLocations).push(node)
    locationByThing.set(location, node)
    return node
  }

  const regions = new Map<string, RegionNode | undefined>()
  for (const { id: theirId, name, linkedId } of structure.regions) {
    const thing = { kind: 'region', theirId, name: name.trim(), ...given({ linkedId }) } as const
    const found = nodeOf<RegionEntry>(thing, undefined, () => ({}))
    const node = found && { ...found, locations: [] }
    regions.set(theirId, node)
    if (!node) continue
    regionNodes.push(node)
    if (node.thing) regionByThing.set(node.thing, node)
  }

  const locations = new Map<string, LocationNode | undefined>()
  for (const { id: theirId, name, regionId, linkedId } of structure.locations) {
    const thing = { kind: 'location', theirId, name: name.trim(), ...given({ linkedId }) } as const
    const isInside = regionId !== undefined && regions.has(regionId)
    const parent = isInside ? regions.get(regionId) : undefined
    if (isInside && !parent) {
      leaveOut(thing, 'Its region is left out.')
      locations.set(theirId, undefined)
      continue
    }
    const found = nodeOf<LocationEntry>(thing, placeOf(parent), () => ({}))
    const node = found && { ...found, rooms: [] }
    locations.set(theirId, node)
    if (!node) continue
    const present = node.thing && organisation.parentOf(node.thing)
    const region = parent ?? (present && presentRegion(present))
    ;(region ? region.locations : outerLocations).push(node)
    if (node.thing) locationByThing.set(node.thing, node)
  }

  const profiles = new Map<string, Node<ProfileEntry>>()
  for (const { id: theirId, name, description, config, linkedId } of structure.profiles) {
    const thing = { kind: 'profile', theirId, name: name.trim(), ...given({ linkedId }) } as const
    const here = linkedId === undefined ? undefined : organisation.byId('profile', linkedId)
    // A profile with the same name is linked first. What differs is in the next plan.
    const node = nodeOf<ProfileEntry>(thing, undefined, (match) =>
      match === 'sameName'
        ? {}
        : { ...given({ description }), config: configOf(config ?? {}, here?.values.config as Values | undefined) },
    )
    if (node) profiles.set(theirId, node)
  }

  for (const { id: theirId, name, locationId, profileId, capacity, linkedId } of structure.rooms) {
    const thing = { kind: 'room', theirId, name: name.trim(), ...given({ linkedId }) } as const
    const isInside = locationId !== undefined && locations.has(locationId)
    const parent = isInside ? locations.get(locationId) : undefined
    if (isInside && !parent) {
      leaveOut(thing, 'Its location is left out.')
      continue
    }
    const profile = profileId === undefined ? undefined : profiles.get(profileId)
    const node = nodeOf<RoomEntry>(thing, placeOf(parent), (match) =>
      match === 'sameName'
        ? {}
        : given({
            capacity: capacity !== undefined && capacity >= 1 ? capacity : undefined,
            profile: profile && profileReference(profile, organisation),
          }),
    )
    if (!node) continue
    const present = node.thing && organisation.parentOf(node.thing)
    const location = parent ?? (present && presentLocation(present))
    ;(location ? location.rooms : outerRooms).push(node)
  }

  return { ...written(snapshot.organisation, { regionNodes, outerLocations, outerRooms, profiles }), leftOut }
}

/** Without the values that are not given. */
const given = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never

const nameOf = ({ values }: OrganisationThing): string => String(values.name)

/** Settings that are locked here and no longer there are unlocked. */
function configOf(theirs: object, here: Values = {}): NonNullable<ProfileEntry['config']> {
  const known = Object.entries(theirs).filter(([key, value]) => value !== null && !passwords.includes(key))
  const removed = Object.entries(here).filter(([key, value]) => !isEnvSecret(value) && !(key in theirs))
  return Object.fromEntries([...known, ...removed.map(([key]) => [key, null])])
}

/** A new profile is named, which works only if no other has its name. */
function profileReference({ thing, entry }: Node<ProfileEntry>, organisation: OrganisationIndex) {
  if (thing) return { id: thing.id as number }
  return organisation.byPath('profile', [entry.name]).length === 0 ? entry.name : undefined
}

interface Nodes {
  readonly regionNodes: readonly RegionNode[]
  readonly outerLocations: readonly LocationNode[]
  readonly outerRooms: readonly Node<RoomEntry>[]
  readonly profiles: ReadonlyMap<string, Node<ProfileEntry>>
}

/** Collects the entries with their JSON Pointers. */
function written(organisation: string, nodes: Nodes): Omit<SourceDocument, 'leftOut'> {
  const entries: SourceEntry[] = []
  const note = ({ of }: Node<unknown>, pointer: string) => {
    if (of) entries.push({ ...of, pointer })
  }
  const roomsAt = (rooms: readonly Node<RoomEntry>[], at: string) =>
    rooms.map((node, i) => {
      note(node, `${at}/rooms/${i}`)
      return node.entry
    })
  const locationsAt = (locations: readonly LocationNode[], at: string) =>
    locations.map((node, i) => {
      const pointer = `${at}/locations/${i}`
      note(node, pointer)
      return { ...node.entry, rooms: roomsAt(node.rooms, pointer) }
    })
  const document = {
    organisation,
    regions: nodes.regionNodes.map((node, i) => {
      note(node, `/regions/${i}`)
      return { ...node.entry, locations: locationsAt(node.locations, `/regions/${i}`) }
    }),
    locations: locationsAt(nodes.outerLocations, ''),
    rooms: roomsAt(nodes.outerRooms, ''),
    profiles: [...nodes.profiles.values()].map((node, i) => {
      note(node, `/profiles/${i}`)
      return node.entry
    }),
  }
  return { document, entries }
}

/** The place of a thing of the source; undefined outside of regions and locations. */
type Place =
  | { readonly thing: OrganisationThing | undefined; readonly isNew: boolean; readonly key: string }
  | undefined

const placeOf = (node: Node<unknown> | undefined): Place =>
  node && { thing: node.thing, isNew: node.thing === undefined, key: node.of?.theirId ?? '' }

interface FoundThing {
  readonly match: Match
  readonly thing: OrganisationThing | undefined
}

/** Finds the thing here that belongs to one of the source. Each thing here belongs to at most one. */
class ThingFinder {
  readonly #organisation: OrganisationIndex
  readonly #taken = new Set<OrganisationThing>()
  /** Names that are new at their place: the service would take a second one, but a document cannot tell them apart. */
  readonly #newNames = new Set<string>()

  constructor(organisation: OrganisationIndex, { regions, locations, rooms, profiles }: SourceStructure) {
    this.#organisation = organisation
    const linked = { region: regions, location: locations, room: rooms, profile: profiles }
    for (const [kind, things] of Object.entries(linked)) {
      for (const { linkedId } of things) {
        const thing = linkedId === undefined ? undefined : organisation.byId(kind as LinkedKind, linkedId)
        if (thing) this.#taken.add(thing)
      }
    }
  }

  /** Returns a sentence if it cannot be said which thing is meant. */
  find(
    { kind, name, linkedId, theirId }: SourceThing & { readonly linkedId?: number },
    parent: Place,
  ): FoundThing | string {
    const { noun } = kindTable[kind]
    const linked = linkedId === undefined ? undefined : this.#organisation.byId(kind, linkedId)
    if (linked) return { match: 'linked', thing: linked }
    if (name === '') return `The ${noun} ${theirId} has no name at the source.`
    if (name.length > maxNameLength) return `Its name is longer than ${maxNameLength} characters.`
    const all = parent?.isNew ? [] : this.#organisation.childrenOf(parent?.thing, kind)
    const candidates = all.filter((thing) => nameOf(thing) === name && !this.#taken.has(thing))
    if (candidates.length > 1) return `Several ${noun}s here have this name. Give them different names, or link one.`
    const [thing] = candidates
    if (thing) {
      this.#taken.add(thing)
      return { match: 'sameName', thing }
    }
    const place = JSON.stringify([kind, parent?.key ?? null, name])
    if (this.#newNames.has(place)) {
      return `Another ${noun} of the source has the same name at the same place. The next plan has it.`
    }
    this.#newNames.add(place)
    return { match: 'new', thing: undefined }
  }
}
