// Finds what a reference in a document means: an entry of the document, or else a thing of the organisation.
import type { Reference } from './document.ts'
import type { Entry } from './entries.ts'
import { kindTable } from './kinds.ts'
import type { Matches } from './match.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { Id, Kind, OrganisationThing } from './things.ts'

/** A reference means a thing that exists, or an entry that makes one. */
export type Referent = { readonly thing: OrganisationThing } | { readonly entry: Entry }

export interface References {
  /** Returns a sentence if the reference has no meaning, or several. */
  find(kind: Kind, reference: Reference): Referent | string
  /** The thing that an entry means, or the entry itself if it has none yet. */
  ofEntry(entry: Entry): Referent
}

interface ReferenceInput {
  readonly organisation: OrganisationIndex
  readonly matches: Matches
  readonly hasOwnIds: boolean
  readonly lineOf: (entry: Entry) => string
}

export function makeReferences(entries: readonly Entry[], input: ReferenceInput): References {
  const byId = new Map<string, Entry>()
  const byExternalId = new Map<string, Entry>()
  const byPath = new Map<string, Entry[]>()
  for (const entry of entries) {
    const { kind, id, externalId, path } = entry
    if (id !== undefined) byId.set(key(kind, id), entry)
    if (externalId !== undefined) byExternalId.set(key(kind, externalId), entry)
    const pathKey = key(kind, JSON.stringify(path))
    byPath.set(pathKey, [...(byPath.get(pathKey) ?? []), entry])
  }
  const { organisation, matches, hasOwnIds, lineOf } = input
  const referentOf = (entry: Entry): Referent => {
    const thing = matches.thingOf.get(entry)
    return thing ? { thing } : { entry }
  }

  /** Two entries with one path differ by their ids, so a path does not say which is meant. */
  const findByPath = (kind: Kind, path: readonly string[]): Referent | string => {
    const { noun } = kindTable[kind]
    const shown = path.join(' / ')
    const named = byPath.get(key(kind, JSON.stringify(path))) ?? []
    // An entry can rename or move the thing that has this path now. The document then uses the new path.
    const rest = organisation.byPath(kind, path).filter((thing) => !matches.entryOf.has(thing))
    if (named.length + rest.length > 1) {
      const found = [
        ...named.map((entry) => `the entry ${lineOf(entry)}`),
        ...rest.map((t) => organisation.describe(t)),
      ]
      return `"${shown}" means several ${noun}s: ${found.join(' and ')}. Use {externalId: …} or {id: …}.`
    }
    if (named[0]) return referentOf(named[0])
    if (rest[0]) return { thing: rest[0] }
    const form = pathForms[kind] === undefined ? '' : ` ${pathForms[kind]}`
    return `No ${noun} has the path "${shown}".${form} ${addIt(noun)}`
  }

  return {
    ofEntry: referentOf,
    find(kind, reference) {
      const { noun } = kindTable[kind]
      if (typeof reference === 'string') return findByPath(kind, [reference.trim()])
      if (Array.isArray(reference))
        return findByPath(
          kind,
          reference.map((name) => name.trim()),
        )
      if ('externalId' in reference) {
        const externalId = reference.externalId.trim()
        const entry = byExternalId.get(key(kind, externalId))
        const thing = organisation.byExternalId(kind, externalId)
        if (entry) return referentOf(entry)
        return thing ? { thing } : `No ${noun} has the externalId ${externalId}. ${addIt(noun)}`
      }
      const { id } = reference as { id: Id }
      const entry = byId.get(key(kind, id))
      const thing = hasOwnIds ? organisation.byId(kind, id) : undefined
      if (entry) return referentOf(entry)
      return thing ? { thing } : `No ${noun} has the id ${id}. ${addIt(noun)}`
    },
  }
}

const key = (kind: Kind, rest: Id): string => `${kind} ${rest}`

const addIt = (noun: string) => `Correct it, or create the ${noun}.`

const pathForms: Partial<Record<Kind, string>> = {
  location: 'One in a region is written with it: [region, location].',
  room: 'One in a location is written with it: [location, room] or [region, location, room].',
}
