// Makes hints about entries that make something new although a person may have meant something that exists.
import { groupBy } from '../contract/group-by.ts'
import type { Entry } from './entries.ts'
import { kindTable } from './kinds.ts'
import type { Matches } from './match.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { EntrySteps } from './steps.ts'
import { losesSecrets } from './steps.ts'
import type { Kind, OrganisationThing, Values } from './things.ts'

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
  const candidates = freeThings(input)
  return planned.flatMap(({ entry, thing, drafts }) => {
    const [draft] = drafts
    if (!draft) return []
    const message = thing ? hintOfChange(thing, draft.after) : hintOfCreation(entry, input, candidates)
    return message === undefined ? [] : [{ pointer: entry.pointer, message }]
  })
}

interface FreeThings {
  readonly named: (kind: Kind, name: string) => readonly OrganisationThing[]
  readonly inParent: (kind: Kind, parent: OrganisationThing | undefined) => readonly OrganisationThing[]
}

/** The things that no entry means. A document can make thousands of things, so they are looked up and not searched. */
function freeThings({ organisation, matches }: HintInput): FreeThings {
  const free = organisation.snapshot.things.filter((thing) => !matches.entryOf.has(thing))
  const byName = groupBy(free, ({ kind, values }) => `${kind} ${values.name}`)
  const byParent = groupBy(free, (thing) => parentKey(thing.kind, organisation.parentOf(thing)))
  return {
    named: (kind, name) => byName.get(`${kind} ${name}`) ?? [],
    inParent: (kind, parent) => byParent.get(parentKey(kind, parent)) ?? [],
  }
}

/** Things of a kind have parents of one kind, so the id tells parents apart. */
const parentKey = (kind: Kind, parent: OrganisationThing | undefined) => `${kind} ${parent?.id}`

function hintOfCreation(entry: Entry, input: HintInput, free: FreeThings): string | undefined {
  const { organisation, matches, hasOwnIds, pruned } = input
  const { kind, id, path, parent, externalId } = entry
  const { noun } = kindTable[kind]
  const shown = `${noun} ${path.join(' / ')}`
  if (kind === 'silence') return undefined
  if (id !== undefined) {
    return hasOwnIds ? `No ${noun} has the id ${id}: it was deleted, or the key does not see it.` : undefined
  }
  const canMove = (kind === 'location' || kind === 'room') && externalId === undefined
  const moved = canMove ? free.named(kind, path.at(-1) as string) : []
  if (moved.length > 0 && moved.length <= maxCandidates) {
    return `The ${shown} is new. If it is ${list(moved, organisation)}, add its id.`
  }
  const parentThing = parent && matches.thingOf.get(parent)
  if (parent && !parentThing) return undefined
  const renamed = free.inParent(kind, parentThing)
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
