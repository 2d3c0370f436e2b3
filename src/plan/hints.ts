// Makes hints about entries that make something new although a person may have meant something that exists.
import type { Entry } from './entries.ts'
import { kindTable } from './kinds.ts'
import type { Matches } from './match.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { EntrySteps } from './steps.ts'
import { losesSecrets } from './steps.ts'
import type { OrganisationThing, Values } from './things.ts'

interface HintInput {
  readonly organisation: OrganisationIndex
  readonly matches: Matches
  readonly hasOwnIds: boolean
  readonly pruned: ReadonlySet<OrganisationThing>
}

export interface Hint {
  readonly pointer: string
  readonly message: string
}

/** A hint with many candidates helps no reader. */
const maxCandidates = 3

export function makeHints(planned: readonly EntrySteps[], input: HintInput): Hint[] {
  return planned.flatMap(({ entry, thing, drafts }) => {
    const [draft] = drafts
    if (!draft) return []
    const message = thing ? hintOfChange(thing, draft.after) : hintOfCreation(entry, input)
    return message === undefined ? [] : [{ pointer: entry.pointer, message }]
  })
}

function hintOfCreation(entry: Entry, { organisation, matches, hasOwnIds, pruned }: HintInput): string | undefined {
  const { kind, id, path, parent, externalId } = entry
  const { noun } = kindTable[kind]
  const shown = `${noun} ${path.join(' / ')}`
  if (kind === 'silence') return undefined
  if (id !== undefined) {
    return hasOwnIds ? `No ${noun} has the id ${id}: it was deleted, or the key does not see it.` : undefined
  }
  const parentThing = parent && matches.thingOf.get(parent)
  const isFree = (thing: OrganisationThing) => !matches.entryOf.has(thing)
  const own = path.at(-1)
  const moved = organisation.snapshot.things.filter(
    (thing) => thing.kind === kind && isFree(thing) && externalId === undefined && thing.values.name === own,
  )
  if (moved.length > 0 && moved.length <= maxCandidates && (kind === 'location' || kind === 'room')) {
    return `The ${shown} is new. If it is ${list(moved, organisation)}, add its id.`
  }
  if (parent && !parentThing) return undefined
  const renamed = organisation.childrenOf(parentThing, kind).filter(isFree)
  if (renamed.length === 0 || renamed.length > maxCandidates) return undefined
  const fate = pruned.has(renamed[0] as OrganisationThing) ? ', which the prune deletes' : ''
  return `The ${shown} is new. If it was renamed from ${list(renamed, organisation)}${fate}, add its id.`
}

function hintOfChange(thing: OrganisationThing, after: Values): string | undefined {
  if (!losesSecrets(thing, after) || thing.values.secret === undefined || after.secret) return undefined
  return 'Another address deletes the stored password. Name it with `secret: {env: NAME}` to send it again.'
}

const list = (things: readonly OrganisationThing[], organisation: OrganisationIndex) =>
  things.map((thing) => organisation.describe(thing)).join(' or ')
