// Finds what a prune deletes: things that a section, or a list inside an entry, leaves out.
import type { OrganisationDocument } from './document.ts'
import { type Entry, prunedSections } from './entries.ts'
import type { Matches } from './match.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { SilenceMatch } from './silences.ts'
import type { OrganisationThing } from './things.ts'

interface PruneInput {
  readonly document: OrganisationDocument
  readonly entries: readonly Entry[]
  readonly organisation: OrganisationIndex
  readonly matches: Matches
  readonly silences: ReadonlyMap<Entry, SilenceMatch>
}

/**
 * Returns the pointer of the list that leaves each thing out. A site goes with everything in it that the document does not name elsewhere.
 */
export function findPruned(input: PruneInput): Map<OrganisationThing, string> {
  const { document, entries, organisation, matches, silences } = input
  const named = new Set(matches.entryOf.keys())
  for (const { same, replaced } of silences.values()) for (const thing of [same, replaced]) if (thing) named.add(thing)
  const pruned = new Map<OrganisationThing, string>()
  const add = (things: readonly OrganisationThing[], list: string) => {
    for (const thing of things) {
      if (named.has(thing)) continue
      pruned.set(thing, list)
      add(organisation.childrenOf(thing, 'location'), list)
      add(organisation.childrenOf(thing, 'room'), list)
    }
  }
  if (document.locations) add(organisation.childrenOf(undefined, 'location'), '/locations')
  if (document.rooms) add(organisation.childrenOf(undefined, 'room'), '/rooms')
  for (const [section, kind] of Object.entries(prunedSections)) {
    if (document[section as keyof typeof prunedSections]) add(organisation.childrenOf(undefined, kind), `/${section}`)
  }
  for (const entry of entries) {
    const thing = matches.thingOf.get(entry)
    const kind = entry.kind === 'region' ? 'location' : 'room'
    if (thing && entry.listsChildren) add(organisation.childrenOf(thing, kind), `${entry.pointer}/${kind}s`)
  }
  return pruned
}
