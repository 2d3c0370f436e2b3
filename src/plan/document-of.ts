// Writes an organisation as a document: ordered by path, with ids, and with variables in the place of secrets.
import type { RuleId } from '../contract/incidents/rule-table.ts'
import { canonical, isEnvSecret } from './compare.ts'
import type { OrganisationDocument, Reference } from './document.ts'
import { ruleDefaults } from './entries.ts'
import { kindTable } from './kinds.ts'
import { OrganisationIndex } from './organisation.ts'
import type { Kind, OrganisationThing, Snapshot, ThingRef, ThingValue, Values } from './things.ts'

type Entry = Record<string, unknown>

/** One state of an organisation has one document. Endpoints are not in it, because a document makes none. */
export function documentOf(snapshot: Snapshot, schemaUrl?: string): OrganisationDocument {
  const organisation = new OrganisationIndex(snapshot)
  const write = entryWriter(organisation)
  const orderOf = new Map(snapshot.things.map((thing) => [thing, orderKey(thing, organisation)]))
  const sorted = (things: readonly OrganisationThing[]) =>
    [...things].sort((a, b) => compareKeys(orderOf.get(a) as OrderKey, orderOf.get(b) as OrderKey))
  const section = (kind: Kind, parent?: OrganisationThing) => sorted(organisation.childrenOf(parent, kind))

  const rooms = (parent?: OrganisationThing) => section('room', parent).map(write)
  const locations = (parent?: OrganisationThing) =>
    section('location', parent).map((location) => ({ ...write(location), rooms: rooms(location) }))
  const regions = section('region').map((region) => ({ ...write(region), locations: locations(region) }))
  const rules = section('incidentRule')
    .filter(isChanged)
    .map((rule): [string, Entry] => {
      const { id, ...settings } = write(rule)
      return [id as string, settings]
    })
  const document: Entry = {
    ...(schemaUrl !== undefined && { $schema: schemaUrl }),
    organisation: snapshot.organisation,
    regions,
    locations: locations(),
    rooms: rooms(),
    profiles: section('profile').map(write),
    gatewayDevices: section('gatewayDevice').map(write),
    users: section('user').map(write),
    incidentRules: Object.fromEntries(rules),
    silences: section('silence').map(write),
    channels: section('channel').map(write),
  }
  for (const [name, kind] of Object.entries(sectionKinds))
    if (snapshot.hiddenKinds.includes(kind)) delete document[name]
  // Such a caller does not see sites outside of regions, and an empty section would say that there are none.
  if (!snapshot.seesAllRegions) for (const name of ['locations', 'rooms']) delete document[name]
  return document as OrganisationDocument
}

const sectionKinds = { channels: 'channel', users: 'user', gatewayDevices: 'gatewayDevice' } satisfies Partial<
  Record<keyof OrganisationDocument, Kind>
>

const isChanged = ({ id, values }: OrganisationThing) => canonical(ruleDefaults(id as RuleId)) !== canonical(values)

/** Fields that are left out: the place in the document says them. */
const saidByPlace: Partial<Record<Kind, readonly string[]>> = { location: ['region'], room: ['location'] }

function entryWriter(organisation: OrganisationIndex): (thing: OrganisationThing) => Entry {
  const variables = variableNames(organisation)
  return (thing) => {
    const entry: Entry = { id: thing.id }
    for (const field of Object.keys(kindTable[thing.kind].fields)) {
      const value = thing.values[field]
      if (
        value === undefined ||
        value === null ||
        (field === 'disabled' && value === false) ||
        saidByPlace[thing.kind]?.includes(field)
      )
        continue
      const written = fieldOf(thing, field, value, organisation, variables)
      if (written !== undefined) entry[field] = written
    }
    return entry
  }
}

function fieldOf(
  thing: OrganisationThing,
  field: string,
  value: ThingValue,
  organisation: OrganisationIndex,
  variables: (thing: OrganisationThing, field: string) => string,
): unknown {
  switch (kindTable[thing.kind].fields[field]) {
    case 'secret':
      return { env: variables(thing, field) }
    case 'reference':
      return field === 'place' ? placeOf(value, organisation) : referenceTo(value as ThingRef, organisation)
    case 'references':
      return (value as readonly ThingRef[])
        .map((target) => referenceTo(target, organisation))
        .sort((a, b) => compareTexts(JSON.stringify(a), JSON.stringify(b)))
    case 'map': {
      const keys = Object.keys(value as Values).sort(compareTexts)
      const written = keys.map((key) => {
        const item = (value as Values)[key] as ThingValue
        return [key, isEnvSecret(item) ? { env: variables(thing, key) } : item]
      })
      return written.length > 0 ? Object.fromEntries(written) : undefined
    }
    default:
      if (field === 'gateway') return organisation.gatewayName(String(value))
      return Array.isArray(value) ? [...value].sort() : value
  }
}

const placeOf = (value: ThingValue, organisation: OrganisationIndex): Entry => {
  if (value === 'all') return { all: true }
  const target = value as ThingRef
  const serial = target.kind === 'endpoint' ? organisation.targetOf(target)?.values.serial : undefined
  return { [target.kind]: serial ?? referenceTo(target, organisation) }
}

/** The shortest reference that means one thing only. */
function referenceTo(target: ThingRef, organisation: OrganisationIndex): Reference {
  const thing = organisation.targetOf(target)
  if (!thing) return { id: ('id' in target ? target.id : 0) as number }
  const path = organisation.pathOf(thing)
  if (organisation.byPath(thing.kind, path).length === 1) return path.length === 1 ? (path[0] as string) : [...path]
  const { externalId } = thing.values
  return typeof externalId === 'string' ? { externalId } : { id: thing.id as number }
}

/**
 * Names the variable of each secret after its thing, so the document of a copy of the organisation has the same names. Names that are equal
 * get a number, in the order of the document.
 */
function variableNames(organisation: OrganisationIndex): (thing: OrganisationThing, field: string) => string {
  const names = new Map<string, string>()
  const used = new Set<string>()
  const withSecrets = organisation.snapshot.things
    .filter((thing) => secretFields(thing).length > 0)
    .sort((a, b) => compareKeys(orderKey(a, organisation), orderKey(b, organisation)))
  for (const thing of withSecrets) {
    for (const field of secretFields(thing)) {
      const words = [kindTable[thing.kind].noun, ...organisation.pathOf(thing), field]
      const name = words.map(upperWords).filter(Boolean).join('_')
      let unique = name
      for (let n = 2; used.has(unique); n++) unique = `${name}_${n}`
      used.add(unique)
      names.set(`${thing.kind} ${thing.id} ${field}`, unique)
    }
  }
  return ({ kind, id }, field) => names.get(`${kind} ${id} ${field}`) as string
}

const secretFields = ({ kind, values }: OrganisationThing): string[] =>
  Object.entries(kindTable[kind].fields)
    .flatMap(([name, fieldKind]) => {
      if (fieldKind === 'secret') return values[name] ? [name] : []
      if (fieldKind !== 'map') return []
      return Object.entries((values[name] ?? {}) as Values).flatMap(([key, item]) => (isEnvSecret(item) ? [key] : []))
    })
    .sort(compareTexts)

const upperWords = (text: string): string =>
  text
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()

/** Things with one path are ordered by their content and then by id. Content comes first: ids differ in a copy of the organisation. */
type OrderKey = readonly [path: string, content: string, id: string]
const orderKey = (thing: OrganisationThing, organisation: OrganisationIndex): OrderKey => [
  organisation.pathOf(thing).join('\u0000'),
  JSON.stringify(thing.values.externalId ?? thing.values.weekly ?? null),
  typeof thing.id === 'number' ? String(thing.id).padStart(10, '0') : thing.id.padStart(10, '0'),
]
const compareKeys = (a: OrderKey, b: OrderKey): number =>
  compareTexts(a[0], b[0]) || compareTexts(a[1], b[1]) || compareTexts(a[2], b[2])
/** By code units, so the order depends on no locale. */
const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
