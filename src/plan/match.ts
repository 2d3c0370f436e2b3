// Finds the thing that each entry of a document means: by id, else by external id, else by its path of names.
import { type DriverId, drivers } from '../contract/fleet/drivers.ts'
import { groupBy } from '../contract/group-by.ts'
import { emailKey } from '../contract/text.ts'
import type { Entry } from './entries.ts'
import { kindTable } from './kinds.ts'
import type { OrganisationIndex } from './organisation.ts'
import { type Kind, kinds, type OrganisationThing } from './things.ts'

/** `keys` lead from the entry to the value that is wrong. */
export type Report = (entry: Entry, message: string, ...keys: readonly string[]) => void

export interface Matches {
  readonly thingOf: ReadonlyMap<Entry, OrganisationThing>
  readonly entryOf: ReadonlyMap<OrganisationThing, Entry>
}

interface Matching {
  readonly organisation: OrganisationIndex
  /** Whether the document is about this organisation. Otherwise its ids mean other things. */
  readonly hasOwnIds: boolean
  readonly lineOf: (entry: Entry) => string
  readonly report: Report
}

export function matchEntries(entries: readonly Entry[], matching: Matching): Matches {
  const thingOf = new Map<Entry, OrganisationThing>()
  const entryOf = new Map<OrganisationThing, Entry>()
  const pair = (entry: Entry, thing: OrganisationThing) => {
    thingOf.set(entry, thing)
    entryOf.set(thing, entry)
  }
  pairById(entries, matching, pair)
  pairByExternalId(entries, matching, thingOf, entryOf, pair)
  for (const kind of kinds) {
    // Silences are matched by their content: src/plan/silences.ts.
    if (kind === 'silence') continue
    const rest = entries.filter((entry) => entry.kind === kind && !thingOf.has(entry))
    pairByPath(rest, matching, { thingOf, entryOf }, pair)
  }
  return { thingOf, entryOf }
}

type Pair = (entry: Entry, thing: OrganisationThing) => void

function pairById(entries: readonly Entry[], { organisation, hasOwnIds, lineOf, report }: Matching, pair: Pair): void {
  const named = new Map<string, Entry>()
  for (const entry of entries) {
    const { kind, id } = entry
    // A silence that has changed is another one: src/plan/silences.ts.
    if (id === undefined || kind === 'silence') continue
    const other = named.get(`${kind} ${id}`)
    if (other) {
      report(entry, `The id ${id} is also that of the entry ${lineOf(other)}. Remove one of them.`, 'id')
      continue
    }
    named.set(`${kind} ${id}`, entry)
    const thing = hasOwnIds || kind === 'incidentRule' ? organisation.byId(kind, id) : undefined
    if (thing) pair(entry, thing)
  }
}

function pairByExternalId(
  entries: readonly Entry[],
  { organisation, lineOf, report }: Matching,
  thingOf: ReadonlyMap<Entry, OrganisationThing>,
  entryOf: ReadonlyMap<OrganisationThing, Entry>,
  pair: Pair,
): void {
  const named = new Map<string, Entry>()
  for (const entry of entries) {
    const { kind, externalId } = entry
    if (externalId === undefined) continue
    const key = `${kind} ${externalId}`
    const other = named.get(key)
    if (other) {
      const text = `The externalId ${externalId} is also that of the entry ${lineOf(other)}. Remove one of them.`
      report(entry, text, 'externalId')
      continue
    }
    named.set(key, entry)
    const holder = organisation.byExternalId(kind, externalId)
    if (!holder || thingOf.get(entry) === holder) continue
    if (thingOf.has(entry) || entryOf.has(holder)) {
      const text = `The externalId ${externalId} belongs to ${organisation.describe(holder)}. Change it there first.`
      report(entry, text, 'externalId')
    } else pair(entry, holder)
  }
}

function pairByPath(entries: readonly Entry[], matching: Matching, matches: Matches, pair: Pair): void {
  const { report, lineOf } = matching
  const groups = groupBy(entries, (entry) => pathKey(entry, matches))
  for (const group of groups.values()) {
    const [entry, ...others] = group as [Entry, ...Entry[]]
    const candidates = candidatesFor(entry, matching, matches).filter((thing) => !matches.entryOf.has(thing))
    const areDistinct = candidates.length === 0 && group.every(({ externalId }) => externalId !== undefined)
    if (others.length > 0 && !areDistinct) {
      const lines = group.map(lineOf).join(' and ')
      const text = `Several entries have the path ${shown(entry)} (${lines}). ${tellApart(entry)}`
      report(entry, text, nameKeyOf(entry))
    } else if (candidates.length > 1) {
      const ids = candidates.map(({ id }) => id).join(' and ')
      const { noun } = kindTable[entry.kind]
      const text = `The path ${shown(entry)} matches several ${noun}s, with the ids ${ids}. ${tellApart(entry)}`
      report(entry, text, nameKeyOf(entry))
    } else if (candidates[0]) pair(entry, candidates[0])
  }
}

/** The key with the last part of the path. */
const nameKeyOf = ({ kind }: Entry): string => nameKeys[kind] ?? 'name'
const nameKeys: Partial<Record<Kind, string>> = { user: 'email', gatewayDevice: 'host', endpoint: 'serial' }

const shown = (entry: Entry) => entry.path.join(' / ')

const tellApart = ({ kind, fields }: Entry): string => {
  if (kind === 'user') return 'Keep one of them.'
  return 'externalId' in kindTable[kind].fields && fields.externalId === undefined
    ? 'Add the id or an externalId to each.'
    : 'Add the id to each.'
}

/** Entries with the same key mean the same thing. */
function pathKey(entry: Entry, { thingOf }: Matches): string {
  const { kind, parent, path, fields } = entry
  const own = path.at(-1) as string
  if (kind === 'user') return emailKey(own)
  if (kind === 'gatewayDevice') return JSON.stringify([fields.gateway, fields.host, portOf(fields)])
  const thing = parent && thingOf.get(parent)
  return JSON.stringify([thing?.id ?? parent?.pointer ?? null, own])
}

function candidatesFor(
  entry: Entry,
  { organisation }: Matching,
  { thingOf }: Pick<Matches, 'thingOf'>,
): readonly OrganisationThing[] {
  const { kind, parent, path, fields } = entry
  const own = path.at(-1) as string
  switch (kind) {
    case 'location':
    case 'room': {
      const thing = parent && thingOf.get(parent)
      if (parent && !thing) return []
      return organisation.byPath(kind, thing ? [...organisation.pathOf(thing), own] : [own]).filter(
        // Parents can have one name, too.
        (candidate) => organisation.parentOf(candidate) === thing,
      )
    }
    case 'user':
      return organisation.snapshot.things.filter(
        (t) => t.kind === kind && emailKey(String(t.values.email)) === emailKey(own),
      )
    case 'gatewayDevice': {
      const gateways = gatewaysNamed(organisation, String(fields.gateway))
      return organisation.snapshot.things.filter(
        ({ kind: of, values }) =>
          of === kind &&
          gateways.some(({ id }) => id === values.gateway) &&
          values.host === fields.host &&
          values.port === portOf(fields),
      )
    }
    default:
      return organisation.byPath(kind, path)
  }
}

export const portOf = (fields: Readonly<Record<string, unknown>>): unknown =>
  fields.port ?? drivers[fields.driver as DriverId].defaultPort

/** Serial numbers come first: a gateway's name can be the serial number of another. */
export function gatewaysNamed({ snapshot }: OrganisationIndex, name: string) {
  const bySerial = snapshot.gateways.filter(({ serial }) => serial === name)
  return bySerial.length > 0 ? bySerial : snapshot.gateways.filter((gateway) => gateway.name === name)
}
