// Finds things of an organisation by id, external id and path.
import { kindTable } from './kinds.ts'
import type { Id, Kind, OrganisationThing, Snapshot, ThingRef, ThingValue } from './things.ts'

const keyOf = (kind: Kind, id: Id): string => `${kind} ${id}`
const pathKey = (kind: Kind, path: readonly string[]): string => JSON.stringify([kind, ...path])

export class OrganisationIndex {
  readonly snapshot: Snapshot
  readonly #byId = new Map<string, OrganisationThing>()
  readonly #byExternalId = new Map<string, OrganisationThing>()
  readonly #byPath = new Map<string, OrganisationThing[]>()
  readonly #children = new Map<OrganisationThing | undefined, OrganisationThing[]>()

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
    for (const thing of snapshot.things) this.#byId.set(keyOf(thing.kind, thing.id), thing)
    for (const thing of snapshot.things) {
      const { externalId } = thing.values
      if (typeof externalId === 'string') this.#byExternalId.set(keyOf(thing.kind, externalId), thing)
      append(this.#byPath, pathKey(thing.kind, this.pathOf(thing)), thing)
      append(this.#children, this.parentOf(thing), thing)
    }
  }

  byId(kind: Kind, id: Id): OrganisationThing | undefined {
    return this.#byId.get(keyOf(kind, id))
  }

  byExternalId(kind: Kind, externalId: string): OrganisationThing | undefined {
    return this.#byExternalId.get(keyOf(kind, externalId))
  }

  /** Names can repeat, so several things can have one path. */
  byPath(kind: Kind, path: readonly string[]): readonly OrganisationThing[] {
    return this.#byPath.get(pathKey(kind, path)) ?? []
  }

  /** The locations of a region, the rooms of a location, or what is in none. */
  childrenOf(parent: OrganisationThing | undefined, kind: Kind): readonly OrganisationThing[] {
    return (this.#children.get(parent) ?? []).filter((thing) => thing.kind === kind)
  }

  /** The region of a location, the location of a room. */
  parentOf({ kind, values }: OrganisationThing): OrganisationThing | undefined {
    if (kind === 'location') return this.targetOf(values.region)
    return kind === 'room' ? this.targetOf(values.location) : undefined
  }

  targetOf(value: ThingValue | undefined): OrganisationThing | undefined {
    const target = value as ThingRef | null | undefined
    return target && typeof target === 'object' && 'id' in target ? this.byId(target.kind, target.id) : undefined
  }

  /** The names on the path to a thing, as the document writes it. */
  pathOf(thing: OrganisationThing): readonly string[] {
    const parent = this.parentOf(thing)
    return parent ? [...this.pathOf(parent), ownName(thing)] : this.#ownPath(thing)
  }

  #ownPath(thing: OrganisationThing): readonly string[] {
    if (thing.kind !== 'gatewayDevice') return [ownName(thing)]
    return [this.gatewayName(String(thing.values.gateway)), ownName(thing)]
  }

  /** The name of a gateway if no other has it, else its serial number. */
  gatewayName(id: string): string {
    const { gateways } = this.snapshot
    const gateway = gateways.find((g) => g.id === id)
    if (!gateway) return id
    const isUnique = gateways.filter((g) => g.name === gateway.name || g.serial === gateway.name).length === 1
    return gateway.name !== undefined && isUnique ? gateway.name : gateway.serial
  }

  /** Says which thing is meant in a sentence: `room 7 (Europe / Oslo HQ / Fjord)`. */
  describe(thing: OrganisationThing): string {
    return `${kindTable[thing.kind].noun} ${thing.id} (${this.pathOf(thing).join(' / ')})`
  }
}

const ownName = ({ kind, id, values }: OrganisationThing): string => {
  if (kind === 'user') return String(values.email)
  if (kind === 'endpoint') return String(values.serial)
  if (kind === 'incidentRule') return String(id)
  if (kind === 'silence') return String(values.reason)
  if (kind === 'gatewayDevice') return `${values.host}:${values.port}`
  return String(values.name)
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
