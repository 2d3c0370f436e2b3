// Matches the silences of a document. A silence has no update: one with other fields is made, and the old one is deleted.
import { groupBy } from '../contract/group-by.ts'
import { parseTime } from '../contract/time.ts'
import { canonical } from './compare.ts'
import type { Entry } from './entries.ts'
import type { OrganisationThing, Values } from './things.ts'

export interface SilenceMatch {
  /** The silence that is as the entry says. */
  readonly same: OrganisationThing | undefined
  /** The silence that the entry had before a change, by its id. */
  readonly replaced: OrganisationThing | undefined
}

/** An equal silence counts before the id: after an interruption the new one exists already, and only the old one is left to delete. */
export function matchSilences(
  desiredOf: ReadonlyMap<Entry, Values>,
  things: readonly OrganisationThing[],
  hasOwnIds: boolean,
): Map<Entry, SilenceMatch> {
  const byContent = groupBy(
    things.filter(({ kind }) => kind === 'silence'),
    ({ values }) => contentKey(values),
  )
  const byId = new Map(things.filter(({ kind }) => kind === 'silence').map((thing) => [thing.id, thing]))
  const taken = new Set<OrganisationThing>()
  const matches = new Map<Entry, SilenceMatch>()
  const entries = [...desiredOf].filter(([{ kind }]) => kind === 'silence')
  const take = (entry: Entry, thing: OrganisationThing | undefined) => {
    if (!thing || taken.has(thing)) return
    taken.add(thing)
    matches.set(entry, { same: thing, replaced: undefined })
  }
  for (const [entry, values] of entries) {
    const thing = hasOwnIds && entry.id !== undefined ? byId.get(entry.id) : undefined
    if (thing && contentKey(thing.values) === contentKey(values)) take(entry, thing)
  }
  for (const [entry, values] of entries) {
    if (matches.has(entry)) continue
    take(
      entry,
      byContent.get(contentKey(values))?.find((thing) => !taken.has(thing)),
    )
  }
  for (const [entry] of entries) {
    const old = hasOwnIds && entry.id !== undefined ? byId.get(entry.id) : undefined
    const same = matches.get(entry)?.same
    const replaced = old && old !== same && !taken.has(old) ? old : undefined
    if (replaced) taken.add(replaced)
    matches.set(entry, { same, replaced })
  }
  return matches
}

const contentKey = ({ place, rules, reason, weekly, to }: Values): string =>
  canonical({ place, rules, reason, weekly, to: to === undefined || to === null ? null : parseTime(String(to)) })
