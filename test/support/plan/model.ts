// A small organisation in memory that does what the service does for each step, to compare with what a plan promised.
import { isEnvSecret, storedSecret } from '../../../src/plan/compare.ts'
import { kindTable } from '../../../src/plan/kinds.ts'
import type { OrganisationStep } from '../../../src/plan/plan.ts'
import type {
  Id,
  Kind,
  OrganisationThing,
  ProfileUse,
  Snapshot,
  ThingRef,
  ThingValue,
  Values,
} from '../../../src/plan/things.ts'

const keyOf = (kind: Kind, id: Id) => `${kind} ${id}`

/** Throws where the service would refuse. */
export class ModelOrganisation {
  readonly #base: Snapshot
  readonly #things: Map<string, OrganisationThing>
  #nextId = 1_000_000

  constructor(snapshot: Snapshot) {
    this.#base = snapshot
    this.#things = new Map(snapshot.things.map((thing) => [keyOf(thing.kind, thing.id), thing]))
  }

  snapshot(): Snapshot {
    const things = [...this.#things.values()]
    const profileUses = new Map(
      things
        .filter(({ kind }) => kind === 'profile')
        .map(({ id }): [number, ProfileUse] => {
          const rooms = things.filter(({ values }) => this.#refersTo(values.profile, 'profile', id))
          const endpoints = rooms.map((room): [number, number] => [room.id as number, this.#endpointsIn(room.id)])
          const byRoom = endpoints.filter(([, count]) => count > 0)
          return [
            id as number,
            { endpointCount: byRoom.reduce((sum, [, n]) => sum + n, 0), endpointsByRoom: new Map(byRoom) },
          ]
        }),
    )
    const rooms = things.filter(({ kind, id }) => kind === 'room' && this.#endpointsIn(id) > 0)
    return {
      ...this.#base,
      things,
      profileUses,
      endpointsByRoom: new Map(rooms.map(({ id }) => [id as number, this.#endpointsIn(id)])),
    }
  }

  run(steps: readonly OrganisationStep[]): void {
    const created = new Map<string, Id>()
    const done = new Set<number>()
    for (const step of steps) {
      if (!step.dependsOn.every((number) => done.has(number))) throw new Error(`step ${step.number} is too early`)
      this.#run(step, created)
      done.add(step.number)
    }
  }

  #run(step: OrganisationStep, created: Map<string, Id>): void {
    const after = this.#resolved(step.kind, step.after, created)
    if (step.operation.endsWith('Create')) {
      const id = this.#nextId++
      created.set(step.pointer, id)
      this.#put({ kind: step.kind, id, values: withoutNulls(step.kind, { ...defaultsOf(step.kind), ...after }) })
      return
    }
    const thing = this.#things.get(keyOf(step.kind, step.id as Id))
    if (!thing) throw new Error(`${step.kind} ${step.id} does not exist`)
    if (step.operation.endsWith('Delete')) this.#delete(thing)
    else this.#put({ ...thing, values: withoutNulls(thing.kind, merged(thing, after)) })
  }

  #put(thing: OrganisationThing): void {
    const { externalId } = thing.values
    const holder = [...this.#things.values()].find(
      (other) => other.kind === thing.kind && other.id !== thing.id && other.values.externalId === externalId,
    )
    if (externalId !== undefined && holder) throw new Error(`externalId ${externalId} is taken`)
    for (const target of this.#targetsIn(thing)) {
      if (!this.#things.has(keyOf(target.kind, target.id))) throw new Error(`no ${target.kind} ${target.id}`)
    }
    this.#things.set(keyOf(thing.kind, thing.id), thing)
  }

  #delete(thing: OrganisationThing): void {
    const users = [...this.#things.values()].filter((other) =>
      this.#targetsIn(other).some(({ kind, id }) => kind === thing.kind && id === thing.id),
    )
    const [user] = users.filter(({ kind }) => ['location', 'room'].includes(kind))
    if (user) throw new Error(`${thing.kind} ${thing.id} is used by ${user.kind} ${user.id}`)
    for (const other of users) {
      // A place that is deleted ends its silences.
      if (other.kind === 'silence') this.#things.delete(keyOf(other.kind, other.id))
      if (other.kind === 'silence') continue
      const isThis = (value: ThingValue | undefined) => this.#refersTo(value, thing.kind, thing.id)
      const without = (value: ThingValue | undefined) =>
        Array.isArray(value) ? value.filter((item) => !isThis(item)) : value
      // A device of a gateway stays, without its room.
      const kept = Object.entries(other.values).filter(([, value]) => !isThis(value))
      const values = Object.fromEntries(kept.map(([name, value]) => [name, without(value)]))
      this.#things.set(keyOf(other.kind, other.id), { ...other, values: values as Values })
    }
    this.#things.delete(keyOf(thing.kind, thing.id))
  }

  #endpointsIn(room: Id): number {
    return this.#base.endpointsByRoom.get(room as number) ?? 0
  }

  #refersTo(value: ThingValue | undefined, kind: Kind, id: Id): boolean {
    const target = value as { kind?: Kind; id?: Id } | null | undefined
    return typeof target === 'object' && target?.kind === kind && target.id === id
  }

  #targetsIn({ kind, values }: OrganisationThing): { kind: Kind; id: Id }[] {
    return Object.entries(kindTable[kind].fields)
      .filter(([, fieldKind]) => fieldKind.startsWith('reference'))
      .flatMap(([name]) => [values[name] ?? []].flat())
      .filter((value) => typeof value === 'object') as { kind: Kind; id: Id }[]
  }

  #resolved(kind: Kind, values: Values, created: ReadonlyMap<string, Id>): Values {
    const resolve = (value: ThingValue): ThingValue => {
      const target = value as ThingRef
      if (typeof value !== 'object' || value === null || !('pointer' in target)) return value
      const id = created.get(target.pointer)
      if (id === undefined) throw new Error(`${target.pointer} was not made yet`)
      return { kind: target.kind, id }
    }
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (!kindTable[kind].fields[name]?.startsWith('reference')) return [name, value]
        return [name, Array.isArray(value) ? value.map(resolve) : resolve(value)]
      }),
    )
  }
}

/** The service sets these for a new thing whose request does not. */
function defaultsOf(kind: Kind): Values {
  if (kind === 'user') return { allRegions: false, regions: [], disabled: false }
  if (kind !== 'channel') return {}
  const events = ['incident.opened', 'incident.acknowledged', 'incident.resolved', 'incident.reopened']
  return { events, minSeverity: 'WARNING', rules: [], regions: [], locations: [], enabled: true }
}

/** Secrets that are not sent stay. */
function merged({ kind, values }: OrganisationThing, after: Values): Values {
  const fields = kindTable[kind].fields
  const kept = Object.entries(values).filter(([name]) => fields[name] === 'secret')
  const maps = Object.entries(fields).filter(([name, fieldKind]) => fieldKind === 'map' && after[name])
  const mapsAfter = maps.map(([name]) => {
    const secrets = Object.entries((values[name] ?? {}) as Values).filter(([, value]) => isEnvSecret(value))
    return [name, { ...Object.fromEntries(secrets), ...(after[name] as Values) }]
  })
  return { ...values, ...Object.fromEntries(kept), ...after, ...Object.fromEntries(mapsAfter) }
}

/** The service leaves these lists out of its answers while they are empty. */
const leftOutEmpty: Partial<Record<Kind, string>> = { room: 'tags', silence: 'rules' }

function withoutNulls(kind: Kind, values: Values): Values {
  const tidied = Object.entries(values).flatMap(([name, value]): [string, ThingValue][] => {
    if (value === null || (Array.isArray(value) && value.length === 0 && leftOutEmpty[kind] === name)) return []
    if (!['config', 'fields', 'options'].includes(name)) return [[name, isEnvSecret(value) ? storedSecret : value]]
    const map = Object.entries(value as Values)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, isEnvSecret(item) ? storedSecret : item])
    return name === 'config' || map.length > 0 ? [[name, Object.fromEntries(map)]] : []
  })
  return Object.fromEntries(tidied)
}
