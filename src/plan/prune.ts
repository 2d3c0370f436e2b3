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

/** A site goes with everything in it that the document does not name elsewhere. */
export function findPruned({ document, entries, organisation, matches, silences }: PruneInput): OrganisationThing[] {
  const named = new Set(matches.entryOf.keys())
  for (const { same, replaced } of silences.values()) for (const thing of [same, replaced]) if (thing) named.add(thing)
  const pruned = new Set<OrganisationThing>()
  const add = (things: readonly OrganisationThing[]) => {
    for (const thing of things) {
      if (named.has(thing)) continue
      pruned.add(thing)
      add(organisation.childrenOf(thing, 'location'))
      add(organisation.childrenOf(thing, 'room'))
    }
  }
  if (document.locations) add(organisation.childrenOf(undefined, 'location'))
  if (document.rooms) add(organisation.childrenOf(undefined, 'room'))
  for (const [section, kind] of Object.entries(prunedSections)) {
    if (document[section as keyof typeof prunedSections]) add(organisation.childrenOf(undefined, kind))
  }
  for (const entry of entries) {
    const thing = matches.thingOf.get(entry)
    if (thing && entry.listsChildren) add(organisation.childrenOf(thing, entry.kind === 'region' ? 'location' : 'room'))
  }
  return [...pruned]
}
